"""Advanced indexing: elements picked by index Tensors and masks, read (`index`) and written (`index_put`).

The index Tensors are arguments of the op; its structure (which dimensions they stand at) is static. Masks become index
Tensors on the host where their values are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.engine import CONCRETE
from ..core.handle import form_of, value_of
from ..core.meta import is_meta
from ..core.op import Op
from ..core.selected import choosing, chosen
from ..core.shared_memory import live
from ..errors import OpError, OutOfBoundsError, TracedValueError
from ..tensor import Tensor
from .found_places import no_size, recorded_places
from .indexing import is_mask
from .kept import kept
from .operands import seen

UNSIGNED = {np.dtype(np.int64): np.uint64, np.dtype(np.int32): np.uint32}


def known(tensor: Any) -> np.ndarray | None:
    """The values on the host, or None where they are not known or lie on an accelerator."""
    payload = value_of(tensor)
    if type(payload) not in CONCRETE or (type(payload) is not np.ndarray and tensor.device.type != "cpu"):
        return None
    return np.asarray(payload)


def check_bounds(picker: Any, dim: int, size: int) -> bool:
    """Whether an index Tensor may hold negative numbers. Raises IndexError for one outside of dimension ``dim``."""
    values = seen(picker)
    if values is None:
        return True
    if not values.size or int(values.view(UNSIGNED[values.dtype]).max()) < size:
        return False  # read as unsigned, a negative index is larger than any size
    low, high = int(values.min()), int(values.max())
    if low < -size or high >= size:
        wrong = high if high >= size else low
        raise OutOfBoundsError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    return True


def check_mask(mask: Any, shape: Sequence[int], dim: int) -> None:
    """Raise IndexError where a mask standing at ``dim`` does not have the shape of what it covers."""
    have = tuple(mask._payload.shape)
    for d, size in enumerate(have):
        if shape[dim + d] != size:
            raise OutOfBoundsError(
                f"The shape of the mask {list(have)} at index {d} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim + d}"
            )


def places_of(mask: Any, name: str) -> list[Any]:
    """The places where a mask is true, as one index Tensor for each of its dimensions. Raises RuntimeError in traces."""
    recorded = recorded_places(mask, name)
    if recorded is not None:
        return list(recorded)
    try:
        values = mask._host(name)  # of a mask with a tangent (which counts for nothing): its values
    except TracedValueError:
        raise no_size(name) from None
    return [Tensor._of_numpy(found.astype(np.int64)) for found in np.nonzero(values)]


def resolved(shape: Sequence[int], pickers: Sequence[Any], name: str = "indexing with a boolean mask") -> tuple[list[Any], bool]:
    """The pickers of each dimension of a ``shape`` with masks turned to index Tensors, all of them checked.

    And whether some may be negative.
    """
    found: list[Any] = []
    signed = False
    for dim, picker in enumerate(pickers):
        if picker is None:
            if len(found) <= dim:
                found.append(None)
        elif is_mask(picker):
            check_mask(picker, shape, dim)
            found += places_of(picker, name)
        else:
            signed = check_bounds(picker, dim, shape[dim]) or signed
            found.append(picker)
    return found, signed


def _full_index(structure: tuple[bool, ...], given: Sequence[Any]) -> tuple:
    rest = iter(given)
    return tuple(next(rest) if indexed else slice(None) for indexed in structure)


def result_shape(shape: Sequence[int], structure: tuple[bool, ...], pickers: Sequence[Any]) -> tuple[int, ...]:
    """The shape of what is picked. Raises IndexError where index Tensors do not broadcast."""
    sizes = [tuple(p.shape) for p in pickers]
    try:
        picked = np.broadcast_shapes(*sizes)
    except ValueError:
        shapes = ", ".join(str(list(s)) for s in sizes)
        raise OutOfBoundsError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}") from None
    at = [d for d, indexed in enumerate(structure) if indexed]
    kept_before = [n for d, n in enumerate(shape) if not structure[d : d + 1] == (True,)]
    front = at[0] if at == list(range(at[0], at[-1] + 1)) else 0  # apart from each other, they move to the front
    return (*kept_before[:front], *picked, *kept_before[front:])


@kept("index")
def picking_op(structure: tuple[bool, ...], signed: bool) -> Any:
    """The Op ``(x, *index Tensors) -> picked``; ``signed`` says whether indices may be negative."""

    def pure(x: Any, *given: Any) -> Any:
        result_shape(x.shape, structure, given)
        return x.at[_full_index(structure, given)].get(wrap_negative_indices=signed)

    return pure


def added(at: Any, value: Any, signed: bool = True) -> Any:
    """``x.at[...]`` with ``value`` added; for bools, which JAX does not add, where either is true."""
    write = at.max if value.dtype == bool else at.add
    return write(value, wrap_negative_indices=signed)


@kept("index_put")
def _index_put(structure: tuple[bool, ...], accumulate: bool, signed: bool) -> Any:
    def pure(x: Any, value: Any, *given: Any) -> Any:
        picked = result_shape(x.shape, structure, given)
        _check_values(value.shape, picked)
        value = jnp.broadcast_to(value.astype(x.dtype).reshape(value.shape[max(value.ndim - len(picked), 0) :]), picked)
        index = _full_index(structure, given)
        if accumulate:
            return added(x.at[index], value, signed)
        return choosing(lambda x, value: x.at[index].set(value, wrap_negative_indices=signed), x, value)

    return pure


@kept("index_put")
def _masked(dim: int) -> Any:
    def pure(x: Any, value: Any, mask: Any) -> Any:
        rest = x.ndim - dim - mask.ndim
        return chosen((mask != 0).reshape(mask.shape + (1,) * rest), value.astype(x.dtype), x)

    return pure


_NOWHERE = Op(lambda x, value: x + value.sum().astype(x.dtype) if x.dtype != bool else x | value.any(), "index_put")


def pick(x: Any, pickers: Sequence[Any]) -> Any:
    """The elements of ``x`` that the pickers name, one or None for each dimension."""
    found, signed = resolved(form_of(x).shape, pickers)
    structure = tuple([p is not None for p in found])
    given = [p for p in found if p is not None]
    if x._source is not None and (elements := live(x)) is not None and (places := _all_known(given)) is not None:
        result_shape(elements.shape, structure, places)
        return Tensor._of_numpy(np.array(elements[_full_index(structure, places)], order="C", copy=None))
    return call(picking_op(structure, signed), (x, *given))


def _all_known(pickers: Sequence[Any]) -> list[np.ndarray] | None:
    """The values of all index Tensors; None where one isn't known."""
    values = [known(p) for p in pickers]
    return None if any([v is None for v in values]) else values  # type: ignore[return-value]


def put(x: Any, pickers: Sequence[Any], value: Any, accumulate: bool = False) -> Any:
    """``x`` with ``value`` (a Tensor or an array of x's dtype) at the places that the pickers name."""
    masks = [(dim, p) for dim, p in enumerate(pickers) if p is not None]
    if len(masks) == 1 and is_mask(masks[0][1]) and not accumulate:
        dim, mask = masks[0]
        trimmed = _constant_over(x, value, dim, mask)
        if trimmed is not None:
            check_mask(mask, value_of(x).shape, dim)
            return call(_masked(dim), (x, trimmed, mask))
    if is_meta(x) and any(is_mask(p) and is_meta(p) for _, p in masks):
        return _put_nowhere(x, value, masks)
    found, signed = resolved(value_of(x).shape, pickers, "assignment to a boolean mask")
    structure = tuple(p is not None for p in found)
    return call(_index_put(structure, accumulate, signed), (x, value, *(p for p in found if p is not None)))


def _put_nowhere(x: Any, value: Any, masks: list[tuple[int, Any]]) -> Any:
    """`put` for masks without data, whose places nobody knows: a Tensor like ``x`` that depends on ``value`` too."""
    for dim, mask in masks:
        if is_mask(mask):
            check_mask(mask, value_of(x).shape, dim)
    return call(_NOWHERE, (x, value))


def host_index(shape: Sequence[int], pickers: Sequence[Any], have: tuple[int, ...]) -> tuple:
    """The pickers as an index of NumPy's, for writing values of shape ``have`` to an array of ``shape``. Raises as `put`."""
    found, _ = resolved(shape, pickers, "assignment to a boolean mask")
    structure = tuple([p is not None for p in found])
    given = [np.asarray(p._payload) for p in found if p is not None]
    _check_values(have, result_shape(shape, structure, given))
    return _full_index(structure, given)


def _check_values(have: tuple[int, ...], picked: tuple[int, ...]) -> None:
    extra = len(have) - len(picked)
    fits = extra <= 0 or all(n == 1 for n in have[:extra])
    if not fits or any(n not in (1, size) for n, size in zip(reversed(have), reversed(picked), strict=False)):
        raise OpError(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing result of shape {list(picked)}"
        )


def _constant_over(x: Any, value: Any, dim: int, mask: Any) -> Any:
    """``value`` if it gives each place of the mask the same, so that its size does not matter; None otherwise."""
    shape = tuple(value.shape)
    leading = next((d for d, n in enumerate(shape) if n != 1), len(shape))
    rest = value_of(x).shape[dim + len(mask._payload.shape) :]
    trimmed = shape[leading:]
    tail = rest[len(rest) - len(trimmed) :] if len(trimmed) <= len(rest) else None
    if tail is None or any(a not in (1, b) for a, b in zip(trimmed, tail, strict=True)):
        return None
    if trimmed == shape:
        return value
    return value.reshape(trimmed)
