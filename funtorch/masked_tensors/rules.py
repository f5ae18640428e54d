"""What ops mean on masked Tensors, by the op's name. What isn't in the tables raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.call import call
from ..core.op import Op
from ..core.views import concrete
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import masked
from .tensor import Masked, MaskedTensor

NO_RULE = "{}: no implementation for masked Tensors. x.to_tensor(value) gives a plain one"
MASKS = "Input masks must match: {} has two masked Tensors of which each lacks elements that the other has"

UNARY = (
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "clamp", "conj", "cos", "cosh", "deg2rad",
    "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "frac", "isnan", "lgamma", "log", "log10", "log1p", "log2",
    "logit", "nan_to_num", "neg", "positive", "rad2deg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sgn", "signbit",
    "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "to_copy", "trunc",
)  # fmt: skip
BINARY = (
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "floor_divide", "fmax", "fmin", "fmod", "ge", "gt", "le",
    "logaddexp", "logaddexp2", "lt", "maximum", "minimum", "mul", "ne", "pow", "remainder", "sub",
)  # fmt: skip
TOGETHER = ("cat", "clone", "index_select", "stack")  # done to values and masks alike; so are all views


def process(op: Op, args: Sequence[Any]) -> Any:
    """``op`` on arguments of which one at least is masked. Raises TypeError where it has no meaning there."""
    rule = RULES.get(op.name)
    if rule is None and op.view:
        rule = _together
    if rule is None:
        raise ArgumentTypeError(NO_RULE.format(op.name))
    return rule(op, args)


def _values(x: Any) -> Any:
    return x._payload.values if isinstance(x, MaskedTensor) else x


def _elementwise(op: Op, args: Sequence[Any]) -> Any:
    """The mask stays; of two, both must be the same."""
    masks = [x._payload.mask for x in args if isinstance(x, MaskedTensor)]
    values = call(op, [_values(x) for x in args])
    for other in masks[1:]:
        _check_same(op.name, masks[0], other)
    mask = masks[0] if masks[0].shape == values.shape else masks[0].expand(values.shape)
    return MaskedTensor.of(Masked(values, mask))


def _check_same(name: str, a: Any, b: Any) -> None:
    if a is b:
        return
    first, second = concrete(a), concrete(b)
    if first is not None and second is not None and (first.shape != second.shape or (first != second).any()):
        raise ArgumentValueError(MASKS.format(name))


def _together(op: Op, args: Sequence[Any]) -> Any:
    """The same to values and masks; other arguments are places."""
    if op.name in ("cat", "stack") and not all(isinstance(x, MaskedTensor) for x in args):
        raise ArgumentTypeError(f"{op.name}: masked Tensors can be joined with masked ones only")
    masks = [x._payload.mask if isinstance(x, MaskedTensor) else x for x in args]
    return MaskedTensor.of(Masked(call(op, [_values(x) for x in args]), call(op, masks)))


def _detach(op: Op, args: Sequence[Any]) -> Any:
    return args[0].like(args[0]._payload.values.detach())


def _reduction(name: str) -> Callable:
    """A reduction passes over what is masked out; its result is masked where nothing was left."""
    function = getattr(masked, name)

    def reduce(op: Op, args: Sequence[Any]) -> Any:
        held, given = args[0]._payload, dict(op.statics)
        dim, keepdim = given.pop("dim", None), given.pop("keepdim", False)
        options = {k: v for k, v in given.items() if k == "dtype" and v is not None}
        if name in ("std", "var"):
            options["unbiased"] = given.get("correction", 1) not in (0, False) and given.get("unbiased") is not False
        found = function(held.values, dim, keepdim=keepdim, mask=held.mask, **options)
        every = dim is None or dim == ()
        mask = held.mask.any() if every else held.mask
        if every and keepdim:
            mask = mask.reshape((1,) * held.values.dim())
        for d in () if every else sorted((dim,) if isinstance(dim, int) else dim, reverse=True):
            mask = mask.any(d, keepdim=keepdim)
        return MaskedTensor.of(Masked(found, mask))

    return reduce


def _normalisation(name: str) -> Callable:
    function = getattr(masked, name)

    def normalise(op: Op, args: Sequence[Any]) -> Any:
        held = args[0]._payload
        return args[0].like(function(held.values, op.statics["dim"], mask=held.mask))

    return normalise


Rule = Callable[[Op, Sequence[Any]], Any]
RULES: dict[str, Rule] = dict.fromkeys((*UNARY, *BINARY), _elementwise) | dict.fromkeys(TOGETHER, _together)
RULES |= {name: _reduction(name) for name in ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "std", "var")}
RULES |= {name: _normalisation(name) for name in ("softmax", "log_softmax")}
RULES["detach"] = _detach
