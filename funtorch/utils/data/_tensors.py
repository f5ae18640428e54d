"""The few tensor operations that loading data needs, each found when it is first called.

The rest of ``utils.data`` speaks of tensors through these functions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.engine import CONCRETE, host_possible
from ...core.forked import as_numpy
from ...core.handle import value_of
from ...core.shared_memory import live
from ...core.state import state
from ...tensor import Tensor


def tensor_class() -> type:
    """The class of tensors."""
    import funtorch as _ft

    return _ft.Tensor


def stack(tensors: Sequence[Any]) -> Any:
    """Tensors of one shape, (*) each, as one (N, *)."""
    import funtorch as _ft

    arrays = plain_arrays(tensors)
    if arrays is not None and len({(array.shape, array.dtype) for array in arrays}) == 1:
        return of_array(np.stack(arrays))
    return _ft.stack(tensors, 0)


def plain_arrays(tensors: Sequence[Any]) -> list[np.ndarray] | None:
    """The values of Tensors that are nothing more: on the CPU, with no gradient, in no transform. None otherwise.

    They are to be copied at once: memory that is shared with NumPy changes.

    What data loading does with thousands of small ones, it does with these: as ops that may be differentiated, vectorised
    and recorded it would cost ten times as much.
    """
    if state.levels or state.recorder is not None:
        return None
    plain = []
    for tensor in tensors:
        array = None
        if type(tensor) is Tensor and (array := live(tensor)) is None:
            array = value_of(tensor)
        if type(array) not in CONCRETE or tensor.requires_grad or not host_possible():
            return None
        plain.append(as_numpy(array))
    return plain


def of_array(array: np.ndarray) -> Any:
    """A Tensor around an array that nobody else will write."""
    return Tensor._of_numpy(array)


def as_tensor(values: Any, dtype: str | None = None) -> Any:
    """A tensor of the values of an array, a number or lists of numbers; ``dtype`` by its name."""
    import funtorch as _ft

    return _ft.as_tensor(values, dtype=dtype and getattr(_ft, dtype))


def random_seed(generator: Any = None) -> int:
    """A 63-bit seed drawn from the generator, or from the default one: one draw of PyTorch's ``random_``."""
    import funtorch as _ft

    return int(_ft.empty((), dtype=_ft.int64).random_(generator=generator).item())


def seed_default(seed: int) -> None:
    """Seed the default generator."""
    import funtorch as _ft

    _ft.manual_seed(seed)


def default_generator() -> Any:
    """The generator of whatever is not given one."""
    import funtorch as _ft

    return _ft.default_generator


def seeded_generator(seed: int) -> Any:
    """A new generator that starts from the seed."""
    import funtorch as _ft

    generator = _ft.Generator()
    generator.manual_seed(seed)
    return generator


def permutation(count: int, generator: Any = None) -> list[int]:
    """The numbers below ``count`` in random order."""
    import funtorch as _ft

    return _ft.randperm(count, generator=generator).tolist()


def random_indices(limit: int, count: int, generator: Any = None) -> list[int]:
    """``count`` independent numbers below ``limit``."""
    import funtorch as _ft

    return _ft.randint(limit, (count,), dtype=_ft.int64, generator=generator).tolist()


def weighted_indices(weights: Any, count: int, replacement: bool, generator: Any = None) -> list[int]:
    """``count`` positions in ``weights``, each drawn with a chance in proportion to its weight."""
    import funtorch as _ft

    return _ft.multinomial(weights, count, replacement, generator=generator).tolist()
