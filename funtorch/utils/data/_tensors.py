"""The few tensor operations that loading data needs, each found when it is first called.

The rest of ``utils.data`` speaks of tensors through these functions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def tensor_class() -> type:
    """The class of tensors."""
    import funtorch as _ft

    return _ft.Tensor


def stack(tensors: Sequence[Any]) -> Any:
    """Tensors of one shape, (*) each, as one (N, *)."""
    import funtorch as _ft

    return _ft.stack(tensors, 0)


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
