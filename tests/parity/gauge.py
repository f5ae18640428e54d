"""Results that mathematics leaves free (signs, phases, order) reduced to what it fixes, so that they can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Values are whatever memory held: only shape and dtype are compared. resize_ may uncover such memory.
UNINITIALISED = frozenset("empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize_ resize_as_".split())


def _eigh(module: Any, result: Any) -> Any:
    values, vectors = result
    return values, vectors.abs()


def _svd(module: Any, result: Any) -> Any:
    u, s, v = result
    k = s.shape[-1]
    # Beyond the k-th column a full U or V is any basis of what is left.
    v = v[..., :k, :] if v.shape[-2] != k and v.shape[-1] == v.shape[-2] else v
    return u[..., :k].abs(), s, v.abs()


def _svd_columns(module: Any, result: Any) -> Any:
    u, s, v = result
    k = s.shape[-1]
    return u[..., :k].abs(), s, v[..., :k].abs()


def _eigvals(module: Any, result: Any) -> Any:
    return module.sort(result.abs(), -1)[0], result.sum(-1)


def _eig(module: Any, result: Any) -> Any:
    values, vectors = result
    order = module.argsort(values.real * 3 + values.imag, -1)
    vectors = module.gather(vectors, -1, order.unsqueeze(-2).expand(vectors.shape))
    return module.gather(values, -1, order), vectors.abs()


GAUGES: dict[str, Callable[[Any, Any], Any]] = {
    "linalg.eigh": _eigh,
    "linalg.svd": _svd,
    "svd": _svd_columns,
    "svd_lowrank": _svd_columns,
    "pca_lowrank": _svd_columns,
    "linalg.eig": _eig,
    "linalg.eigvals": _eigvals,
}


def fixed(name: str, module: Any, result: Any) -> Any:
    """The result of the op ``name`` without its freedom."""
    reduce = GAUGES.get(name)
    return result if reduce is None or result is None else reduce(module, result)
