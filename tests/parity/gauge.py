"""Results that mathematics leaves free (signs, phases, order) reduced to what it fixes, so that they can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Values are whatever memory held: only shape and dtype are compared. resize_ may uncover such memory.
UNINITIALISED = frozenset("empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize_ resize_as_".split())


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def _eigh(module: Any, result: Any, given: Arguments) -> Any:
    values, vectors = result
    return values, vectors.abs()


def _svd(module: Any, result: Any, given: Arguments) -> Any:
    u, s, v = result
    k = s.shape[-1]
    # Beyond the k-th column a full U or V is any basis of what is left.
    v = v[..., :k, :] if v.shape[-2] != k and v.shape[-1] == v.shape[-2] else v
    return u[..., :k].abs(), s, v.abs()


def _svd_columns(module: Any, result: Any, given: Arguments) -> Any:
    u, s, v = result
    k = s.shape[-1]
    return u[..., :k].abs(), s, v[..., :k].abs()


def _eigvals(module: Any, result: Any, given: Arguments) -> Any:
    return module.sort(result.abs(), -1)[0], result.sum(-1)


def _eig(module: Any, result: Any, given: Arguments) -> Any:
    values, vectors = result
    order = module.argsort(values.real * 3 + values.imag, -1)
    vectors = module.gather(vectors, -1, order.unsqueeze(-2).expand(vectors.shape))
    return module.gather(values, -1, order), vectors.abs()


def _picked(position: int) -> Callable:
    """Indices by the values they pick: among equal values any is right. ``dim`` is the argument at ``position``."""

    def reduce(module: Any, result: Any, given: Arguments) -> Any:
        args, kwargs = given
        if kwargs.get("stable"):
            return result
        indices = result[-1] if isinstance(result, (tuple, list)) else result
        dim = kwargs.get("dim", args[position] if len(args) > position else -1)
        index = indices if indices.ndim == args[0].ndim else indices.unsqueeze(dim)
        picked = module.gather(args[0], dim, index)
        return (result[0], picked) if isinstance(result, (tuple, list)) else picked

    return reduce


GAUGES: dict[str, Callable[[Any, Any, Arguments], Any]] = {
    "linalg.eigh": _eigh,
    "linalg.svd": _svd,
    "svd": _svd_columns,
    "svd_lowrank": _svd_columns,
    "pca_lowrank": _svd_columns,
    "linalg.eig": _eig,
    "linalg.eigvals": _eigvals,
    "sort": _picked(1),
    "argsort": _picked(1),
    "mode": _picked(1),
    "topk": _picked(2),
    "kthvalue": _picked(2),
}


def fixed(name: str, module: Any, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of the op ``name``, called with these arguments, without its freedom."""
    reduce = GAUGES.get(name)
    return result if reduce is None or result is None else reduce(module, result, (args, kwargs))
