"""``vmap(..., mode="loop")``: the lanes in turn, for functions that look at values or whose shapes depend on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.generators import default_generator
from ..core.segment import Nested
from ..core.trees import Spec, broadcast_prefix, flatten, unflatten
from ..errors import ArgumentValueError, OpError
from ..ops import registry
from ..tensor import Tensor

RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags "
    "on vmap or perform the randomness operation out of vmap"
)


class Lanes(Nested):
    """Watches the lanes' draws: "error" refuses them, "same" gives each lane the first one's, "different" lets them go on."""

    def __init__(self, randomness: str) -> None:
        super().__init__()
        self.randomness = randomness
        self.drawn: list[tuple[tuple, Any]] = []
        self.place = 0

    def begin(self) -> None:
        """A lane begins."""
        self.place = 0

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        if self.randomness == "error":
            raise OpError(RANDOM)
        if self.randomness == "different":
            return super().draw(source, thunk, signature)
        known, value = self._once(signature, lambda: super(Lanes, self).draw(source, thunk, signature))
        if known != signature:
            raise OpError("vmap: with randomness='same' each lane must draw numbers of the same kind and shape")
        return value

    def by_values(self, name: str, values: Any, thunk: Callable) -> Any:
        if self.randomness != "same":
            return thunk()
        known, drawn = self._once((name, values), thunk)
        if known[0] != name or not np.array_equal(known[1], values):
            raise OpError(f"vmap: Vmap does not support {name} with randomness='same' on a mapped input")
        return drawn

    def _once(self, what: tuple, thunk: Callable) -> tuple[tuple, Any]:
        """What is drawn at this place of a lane, and what it was asked for: by the first one."""
        self.place += 1
        if self.place > len(self.drawn):
            self.drawn.append((what, thunk()))
        return self.drawn[self.place - 1]


def in_turn(
    func: Callable, leaves: Sequence[Any], spec: Spec, dims: Sequence[int | None], out_dims: Any, size: int, randomness: str
) -> Any:
    """Call ``func`` for each lane with views of the mapped arguments, and stack what it returns."""
    name = getattr(func, "__name__", repr(func))
    if not size:
        raise ArgumentValueError(f"vmap({name}, mode='loop'): there is no lane to call the function for: the mapped size is 0")
    select, columns, out_spec = registry.names("torch")["select"], [], None
    with Lanes(randomness) as lanes:
        for lane in range(size):
            lanes.begin()
            args, kwargs = unflatten(
                spec, [leaf if dim is None else select(leaf, dim, lane) for leaf, dim in zip(leaves, dims, strict=True)]
            )
            before = default_generator.get_state()
            found, structure = flatten(func(*args, **kwargs))
            _check_unasked_draws(randomness, before)
            _check_result(name, found, structure, out_spec)
            out_spec = structure
            columns.append(found)
    assert out_spec is not None
    try:
        places = broadcast_prefix(tuple(out_dims) if isinstance(out_dims, list) else out_dims, unflatten(out_spec, columns[0]))
    except ValueError as error:
        raise ArgumentValueError(
            f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of outputs: {error}"
        ) from None
    return unflatten(out_spec, [_stacked(name, each, dim) for each, dim in zip(zip(*columns, strict=True), places, strict=True)])


def _check_unasked_draws(randomness: str, before: Any) -> None:
    """Draws whose law depends on values go past the recorder."""
    if randomness != "different" and not bool((default_generator.get_state() == before).all()):
        if randomness == "error":
            default_generator.set_state(before)
            raise OpError(RANDOM)


def _check_result(name: str, found: Sequence[Any], structure: Spec, before: Spec | None) -> None:
    for leaf in found:
        if not isinstance(leaf, Tensor):
            raise ArgumentValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)} as a return.")
    if before is not None and structure != before:
        raise ArgumentValueError(
            f"vmap({name}, mode='loop'): the function must return the same structure in each lane, got {before} and {structure}"
        )


def _stacked(name: str, column: Sequence[Tensor], dim: int | None) -> Tensor:
    torch = registry.names("torch")
    if dim is None:
        if not all(each is column[0] for each in column):
            raise ArgumentValueError("vmap: `out_dims` is None for a result that is mapped over")
        return column[0]
    shapes = [tuple(each.shape) for each in column]
    if len(set(shapes)) > 1:
        lanes = ", ".join(str(list(shape)) for shape in dict.fromkeys(shapes))
        raise OpError(
            f"vmap({name}, mode='loop'): the lanes' results have different shapes: {lanes}. Pad them in the function, or loop in "
            "Python and keep a list."
        )
    if not -len(shapes[0]) - 1 <= dim <= len(shapes[0]):
        raise IndexError(f"vmap: out_dim {dim} is out of range for a result of {len(shapes[0]) + 1} dimensions")
    return torch["stack"](list(column), dim)
