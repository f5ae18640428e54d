"""@op: from one pure function of arrays to the public function, the method, the in-place, the ``out=`` and alias forms.

`declaration` says how the annotations are read; `source` writes the public function.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from ..core import casting
from ..core.call import call
from ..core.handle import Handle
from ..core.promotion import prepare
from ..core.quick import call_one, call_two
from ..dtypes import FROM_NUMPY
from . import registry
from .arguments import (
    ATOMS,
    flag_argument,
    missing_argument,
    operand_argument,
    sequence_argument,
    static,
    tensor_argument,
)
from .assignment import into, overwrite
from .declaration import MISSING, NUMPY_NAMES, Declaration, parameters_of
from .older_forms import older_order
from .source import text_of

Array = Any
Arrays = Sequence[Any]
Operand = Any


def op(
    fn: Callable | None = None,
    *,
    promote: str | None = None,
    namespace: str = "torch",
    name: str | None = None,
    alias: Sequence[str] = (),
    method: bool | None = None,
    inplace: bool = False,
    out: bool = True,
    view: bool = False,
    inverse: Callable | None = None,
    layout: Callable | None = None,
    check: Callable | None = None,
    result: Callable | None = None,
    exact_out: bool = False,
    older: tuple[str, ...] = (),
    gathered: Callable | None = None,
    direct: Callable | None = None,
    squared: Callable | None = None,
    squares: Callable | None = None,
    unrounded: tuple[str, ...] = (),
    compiled: Callable | None = None,
) -> Any:
    """Declare an op.

    Args:
        promote: ``"arith"`` casts the operands to their common type, ``"float"`` to a floating-point one at least.
        namespace: where the function is found: ``torch``, ``nn.functional``, ``linalg``, ``fft``, ``special``, ...
        name: PyTorch's name, where it can't be the function's own.
        alias: further names, in the same namespace or dotted.
        method: whether Tensor gets a method (default: in namespace ``torch``, if the first parameter is an array).
        inplace: whether there is a form with an underscore.
        out: whether there is an ``out=`` argument.
        view, inverse, layout: see `core.op.Op`; ``inverse`` and ``layout`` get the statics after their own arguments.
        check: called with the public arguments before anything else, to raise on what shapes alone can't show.
        result: makes the public result from the tuple of Tensors (a named tuple's ``_make``).
        exact_out: whether ``out=`` must have the result's dtype, where for most ops it may be one to which that can be cast.
        gathered: gives `core.gathered.Gathered`, or None, for the statics.
        squared: where the op is a root of squares, gives for the statics the function below the root, or None.
        squares: gives for the statics 1 if the op squares its argument, 2 if it does where its two arguments are the same, or 0.
        unrounded: the operands that, where they have no dimensions, are not rounded to the others' half type: numbers, say. The
            op is computed in float32 then.
        compiled: gives ``compiled``, ``compiled_vjp`` and ``options`` of `core.op.Op`, for which arguments are there and the statics.
        direct: gives `core.direct.Direct`, or None, for which arguments are there and the statics.
        older: the keywords that PyTorch's older order of arguments gives as numbers before or among the Tensors.
    """
    if fn is None:
        return functools.partial(
            op, promote=promote, namespace=namespace, name=name, alias=alias, method=method, inplace=inplace, out=out,
            view=view, inverse=inverse, layout=layout, check=check, result=result, exact_out=exact_out, older=older,
            gathered=gathered, direct=direct, squared=squared, squares=squares, unrounded=unrounded,
            compiled=compiled,
        )  # fmt: skip
    public_name = name or fn.__name__.strip("_")
    declared = Declaration(fn, public_name, promote, view, inverse, layout)
    declared.check, declared.result, declared.exact_out, declared.older = check, result, exact_out, older
    declared.gathered, declared.direct, declared.squared, declared.squares = gathered, direct, squared, squares
    declared.unrounded, declared.compiled = unrounded, compiled
    declared.cast_as = casting.function_key(public_name, namespace)
    public: Any = _compile(declared, out and not view)
    public.__doc__, public.__module__, public.__wrapped__, public.__wrapped_op__ = fn.__doc__, fn.__module__, fn, declared
    publish(public, public_name, namespace, alias, method, inplace, declared.kinds)
    return public


# What the text of every public function may name.
_FOR_ALL: dict[str, Any] = {
    "ATOMS": ATOMS,
    "FROM_NUMPY": FROM_NUMPY,
    "Handle": Handle,
    "MISSING": MISSING,
    "call": call,
    "call_1": call_one,
    "call_2": call_two,
    "cast_arguments": casting.cast_arguments,
    "casting": casting.active,
    "flag_argument": flag_argument,
    "into": into,
    "missing": missing_argument,
    "older_order": older_order,
    "operand_argument": operand_argument,
    "prepare": prepare,
    "sequence_argument": sequence_argument,
    "static": static,
    "tensor_argument": tensor_argument,
}


def _compile(declared: Declaration, out: bool) -> Callable:
    """The public function. Its text is made when it is first called: there are hundreds, and a program uses a few."""
    scope: dict[str, Any] = _FOR_ALL | {
        "bind": declared.bind,
        "known": {},  # the Ops for two Tensors of one dtype, by that
        "check": declared.check,
        "wrap": declared.result,
        "defaults": [p.default for p in declared.parameters],
    }

    def complete() -> None:
        text = text_of(declared, out)
        exec(compile(text, f"<op {declared.name}>", "exec"), scope)
        made = scope[declared.name.split(".")[-1]]
        public.__code__, public.__defaults__, public.__kwdefaults__ = made.__code__, made.__defaults__, made.__kwdefaults__

    scope["complete"], scope["itself"] = complete, lambda: public
    public: Any = types.FunctionType(_unfinished.__code__, scope, declared.name.split(".")[-1])
    return public


def _unfinished(*args: Any, **kwargs: Any) -> Any:
    complete()  # type: ignore[name-defined]  # noqa: F821  (in the scope that `_compile` gives it)
    return itself()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


def publish(
    public: Callable, name: str, namespace: str, alias: Sequence[str], method: bool | None, inplace: bool, kinds: Sequence[str]
) -> None:
    """Register a function under its names, with its method and in-place forms."""
    if method is None:
        method = namespace == "torch" and bool(kinds) and kinds[0] in ("array", "operand")
    for each in (name, *alias):
        registry.add(namespace, each, public)
        short = each.split(".")[-1]
        if method and "." not in each:
            registry.add_method(short, public)
        if inplace and "." not in each:
            changed = overwrite(public, f"{short}_")
            registry.add(namespace, f"{each}_", changed)
            if method:
                registry.add_method(f"{short}_", changed)


def with_numpy_names(fn: Callable) -> Callable:
    """``fn``, which also takes ``axis`` for ``dim`` and ``keepdims`` for ``keepdim``."""
    if not any(p.name in NUMPY_NAMES for p in parameters_of(fn)):
        return fn

    @functools.wraps(fn)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for old, new in NUMPY_NAMES.items():
                if new in kwargs:
                    kwargs[old] = kwargs.pop(new)
        return fn(*args, **kwargs)

    return renamed


def function(
    namespace: str = "torch", *, name: str | None = None, alias: Sequence[str] = (), method: bool = False, inplace: bool = False
) -> Any:
    """Register a Python function written in terms of ops, under its own or another name, like `op` does."""

    def register(fn: Callable) -> Callable:
        fn = with_numpy_names(casting.casting_first(fn, name or fn.__name__.strip("_"), namespace))
        publish(fn, name or fn.__name__.strip("_"), namespace, alias, method, inplace, ("array",))
        return fn

    return register
