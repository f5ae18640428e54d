"""What ops mean on sparse Tensors, by the op's name. What isn't in the table raises: nothing is made dense unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.backward import ADD
from ..core.call import call
from ..core.foreign import is_foreign
from ..core.op import Op
from ..errors import MissingError, OpError
from ..layouts import sparse_coo, sparse_csc, sparse_csr
from ..ops.joining import cat as dense_cat
from . import joining, kernels, products, reductions, selection
from .conversion import _as_coo, coalesced, compressed, elements_at, flat, held, indices_of, known_places, shared, unflat
from .structure import Compressed, Coo
from .tensor import SparseTensor

NO_RULE = (
    "Could not run 'aten::{0}' with arguments from the '{1}' backend: {0} is not there for Tensors of layout {2}. "
    "x.to_dense() gives a strided one."
)
DENSE_SECOND = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
SIZES = "{}: Expected sizes of 'self' and 'other' to match, but {} != {}"
DIVISOR = "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {} for divisor)"
TURNED = {sparse_csr: sparse_csc, sparse_csc: sparse_csr}


def process(op: Op, args: Sequence[Any]) -> Any:
    """``op`` on arguments of which one at least is sparse. Raises RuntimeError where it has no meaning there."""
    rule = RULES.get(op.name)
    if rule is None:
        kind = next(a.layout for a in args if is_foreign(a))
        raise MissingError(NO_RULE.format(op.name, "SparseCPU" if kind is sparse_coo else "SparseCsrCPU", kind))
    return rule(op, args)


def _linear(op: Op, args: Sequence[Any]) -> Any:
    """An op that may as well be done before values at one place are added up."""
    found = held(args[0])
    return SparseTensor.of(found.with_values(call(op, (found.values, *args[1:]))))


def _pointwise(op: Op, args: Sequence[Any]) -> Any:
    """An op that keeps zeros."""
    found = coalesced(held(args[0]))
    return SparseTensor.of(found.with_values(call(op, (found.values, *args[1:]))))


def _is_number(x: Any) -> bool:
    return not is_foreign(x) and not getattr(x, "_payload", x).shape


def _mul(op: Op, args: Sequence[Any]) -> Any:
    a, b = args
    if _is_number(b):
        return _linear(op, (a, b))
    if _is_number(a):
        found = held(b)
        return SparseTensor.of(found.with_values(call(op, (a, found.values))))
    if a.shape != b.shape:
        other, whole = (a, b) if is_foreign(b) else (b, a)
        if is_foreign(other) or other.dim() > whole.dim():
            raise OpError(SIZES.format("mul", list(a.shape), list(b.shape)))
        spread = other.expand(whole.shape)
        a, b = (spread, b) if whole is b else (a, spread)
    if is_foreign(a) and is_foreign(b):
        return _both(op, held(a), held(b))
    found = held(a if is_foreign(a) else b)
    parts = [found.values if is_foreign(x) else elements_at(x, found) for x in (a, b)]
    return SparseTensor.of(found.with_values(call(op, parts)))


def _both(op: Op, a: Any, b: Any) -> Any:
    """A product of two sparse Tensors: at the places that both have."""
    kind, a, b = a.layout, coalesced(_as_coo(a)), coalesced(_as_coo(b))
    if a.places is b.places:
        return SparseTensor.of(a.with_values(call(op, (a.values, b.values))))
    sizes = a.shape[: a.sparse_dim]
    left, right = flat(known_places(a, "mul"), sizes), flat(known_places(b, "mul"), sizes)
    both, first, second = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    values = call(op, (call(kernels.taken(), (a.values, first)), call(kernels.taken(), (b.values, second))))
    made = SparseTensor.of(Coo(indices_of(unflat(both, sizes)), values, a.shape, True))
    return made if kind is sparse_coo else compressed(made, kind)


def _zero(like: Any) -> np.ndarray:
    return np.zeros((), like._payload.dtype)


def _add(op: Op, args: Sequence[Any]) -> Any:
    a, b = args
    if not is_foreign(b):
        if op is not ADD:
            raise OpError(DENSE_SECOND)
        a, b = b, a  # gradients are added up in any order
    if is_foreign(a) is False and _is_number(a):
        raise OpError(DENSE_SECOND.replace("add(sparse, dense)", "add(number, sparse)"))
    if a.shape != b.shape:
        raise OpError(SIZES.format(op.name, list(a.shape), list(b.shape)))
    other = held(b)
    if not is_foreign(a):
        base, values = call(op, (a, _zero(other.values))), call(op, (_zero(a), other.values))
        return call(kernels.added(), (base, other.places, values))
    mine = held(a)
    if mine.places is other.places:
        return SparseTensor.of(mine.with_values(call(op, (mine.values, other.values))))
    kind, mine, other = mine.layout, _as_coo(mine), _as_coo(other)
    if mine.sparse_dim != other.sparse_dim:
        raise OpError(f"{op.name}: Expected both to have {mine.sparse_dim} sparse dimensions, got {other.sparse_dim}")
    parts = [call(op, (mine.values, _zero(other.values))), call(op, (_zero(mine.values), other.values))]
    joined = Coo(dense_cat([mine.indices, other.indices], 1), dense_cat(parts), mine.shape, False)
    if mine.coalesced and other.coalesced:
        joined = coalesced(joined)
    made = SparseTensor.of(joined)
    return made if kind is sparse_coo else compressed(made, kind)


def _div(op: Op, args: Sequence[Any]) -> Any:
    if not is_foreign(args[0]) or not _is_number(args[1]):
        raise OpError(DIVISOR.format(list(getattr(args[1], "_payload", args[1]).shape)))
    return _linear(op, args)


def _pow(op: Op, args: Sequence[Any]) -> Any:
    if not is_foreign(args[0]) or (len(args) > 1 and not _is_number(args[1])):
        raise OpError("pow of a sparse Tensor: the exponent must be a number")
    return _pointwise(op, args)


def _turn(op: Op, args: Sequence[Any]) -> Any:
    """transpose, t, permute: sparse dimensions among themselves, dense ones among themselves."""
    found = held(args[0])
    plain = tuple(range(len(found.shape)))
    assert op.layout is not None
    dims = op.layout(plain, plain, 0)[0]
    if dims == plain:
        return args[0]
    shape = tuple(found.shape[d] for d in dims)
    if isinstance(found, Compressed):
        parts = (found.compressed, found.plain, shared(found.values))
        return SparseTensor.of(Compressed(TURNED[found.layout], *parts, shape))
    split = found.sparse_dim
    if set(dims[:split]) != set(range(split)):
        raise OpError(
            f"{op.name}: transpositions between sparse and dense dimensions are not allowed, got order {list(dims)} with "
            f"{split} sparse dimensions"
        )
    places = call(kernels.taken(), (found.indices, np.array(dims[:split])))
    values = shared(found.values)
    if dims[split:] != plain[split:]:
        values = values.permute(0, *[d - split + 1 for d in dims[split:]])
    return SparseTensor.of(Coo(places, values, shape, False))


def _addmm(op: Op, args: Sequence[Any]) -> Any:
    return products.addmm(*args, beta=op.statics["beta"], alpha=op.statics["alpha"])


def _layer(op: Op, args: Sequence[Any]) -> Any:
    """A linear layer: x W^T + b."""
    z = products.matmul(args[0], args[1].t())
    return z if len(args) < 3 else z + args[2]


def _sum(op: Op, args: Sequence[Any]) -> Any:
    if op.statics["keepdim"]:
        raise MissingError("sum of a sparse Tensor: keepdim=True is not there")
    return reductions.sum(args[0], op.statics["dim"], op.statics["dtype"])


def _unsqueeze(op: Op, args: Sequence[Any]) -> Any:
    sizes = tuple(range(2, args[0].dim() + 2))
    assert op.layout is not None
    return selection.unsqueeze(args[0], op.layout(sizes, sizes, 0)[0].index(1))


def _squeeze(op: Op, args: Sequence[Any]) -> Any:
    assert op.layout is not None
    return selection.squeeze(args[0], op.layout(tuple(args[0].shape), tuple(range(args[0].dim())), 0)[1])


def _norm(op: Op, args: Sequence[Any]) -> Any:
    if op.statics["dim"] is not None:
        raise MissingError("norm of a sparse Tensor along dimensions is not there")
    return call(op, (coalesced(held(args[0])).values,))


def _detach(op: Op, args: Sequence[Any]) -> Any:
    found = held(args[0])
    return SparseTensor.of(found.with_values(found.values.detach()))


def _index_select(op: Op, args: Sequence[Any]) -> Any:
    return joining.index_select(args[0], op.statics["dim"], args[1])


Rule = Callable[[Op, Sequence[Any]], Any]
RULES: dict[str, Rule] = {
    "mul": _mul, "add": _add, "sub": _add, "div": _div, "pow": _pow, "transpose": _turn, "t": _turn, "permute": _turn,
    "mm": lambda op, args: products.matrix_product(*args), "matmul": lambda op, args: products.matmul(*args),
    "bmm": lambda op, args: products.batch_product(*args), "stack": lambda op, args: joining.stack(args, op.statics["kept"][0]),
    "mv": lambda op, args: products.vector_product(*args), "addmm": _addmm, "linear": _layer, "sum": _sum,
    "detach": _detach, "linalg_vector_norm": _norm, "unsqueeze": _unsqueeze, "squeeze": _squeeze,
    "index_select": _index_select, "cat": lambda op, args: joining.cat(args, op.statics["kept"][0]),
}  # fmt: skip
LINEAR = ("neg", "to_copy", "clone", "alias", "positive", "conj", "deg2rad", "rad2deg", "real", "imag")
POINTWISE = (
    "abs", "sin", "sinh", "asin", "asinh", "tan", "tanh", "atan", "atanh", "sqrt", "square", "relu", "sign", "sgn", "floor", "ceil",
    "round", "trunc", "frac", "erf", "erfinv", "expm1", "log1p", "isnan", "isinf", "isposinf", "isneginf", "signbit", "nan_to_num",
    "leaky_relu", "angle",
)  # fmt: skip
RULES.update(dict.fromkeys(LINEAR, _linear))
RULES.update(dict.fromkeys(POINTWISE, _pointwise))
