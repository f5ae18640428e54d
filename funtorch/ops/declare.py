"""@op: from one pure function of arrays to the public function, the method, the in-place, the ``out=`` and alias forms.

The annotations say what each parameter is: ``Array``, ``Array | None``, ``Arrays`` (a sequence of Tensors), ``Operand``
(a Tensor or a Python number, which takes part in type promotion), ``Operand | None``; every other parameter is static:
it must be hashable (lists become tuples) and is part of the Op's identity.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import casting
from ..core.call import call
from ..core.handle import Handle
from ..core.op import Op
from ..core.promotion import NUMBERS, prepare
from ..core.quick import call_one, call_two
from ..dtypes import FROM_NUMPY, dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .assignment import into, overwrite
from .older_forms import older_order

Array = Any
Arrays = Sequence[Any]
Operand = Any

_ARRAYS = {"Array": "array", "Array | None": "optional", "Arrays": "sequence", "Operand": "operand", "Operand | None": "operand?"}
_ATOMS = frozenset({int, float, bool, complex, str, type(None), dtype, bytes, type(Ellipsis)})


def static(value: Any) -> Any:
    """A static argument in hashable form: lists become tuples, 0-dim Tensors and NumPy scalars Python numbers."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, (list, tuple)):
        return tuple(static(v) for v in value)
    if isinstance(value, Handle):
        return value.item() if not value._payload.shape else tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value


def tensor_argument(value: Any, name: str, parameter: str, position: int) -> Any:
    """What to do with an argument that is not a Tensor but should be: raise TypeError as PyTorch does."""
    raise ArgumentTypeError(f"{name}(): argument '{parameter}' (position {position}) must be Tensor, not {type(value).__name__}")


def operand_argument(value: Any, name: str, parameter: str, position: int) -> Any:
    """A Python number, a NumPy scalar or array as an operand; TypeError for anything else."""
    if type(value) in NUMBERS or isinstance(value, NUMBERS):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return value.item() if value.ndim == 0 else Tensor._of_numpy(np.array(value))
    raise ArgumentTypeError(
        f"{name}(): argument '{parameter}' (position {position}) must be Tensor or a number, not {type(value).__name__}"
    )


def sequence_argument(value: Any, name: str, parameter: str, position: int) -> tuple:
    """A sequence of Tensors as a tuple; TypeError for anything else."""
    if isinstance(value, (list, tuple)) and all(isinstance(v, Handle) for v in value):
        return tuple(value)
    found = type(value).__name__
    if isinstance(value, (list, tuple)):
        at = next(i for i, v in enumerate(value) if not isinstance(v, Handle))
        found = f"{found} with a {type(value[at]).__name__} at {at}"
    raise ArgumentTypeError(f"{name}(): argument '{parameter}' (position {position}) must be tuple of Tensors, not {found}")


def flag_argument(value: Any, name: str) -> bool:
    """``keepdim`` as a bool; TypeError for a number, which would be a second dimension by mistake."""
    if isinstance(value, np.bool_):
        return bool(value)
    raise ArgumentTypeError(f"{name}(): argument 'keepdim' must be bool, not {type(value).__name__}")


def missing_argument(name: str, parameter: str) -> None:
    """Raise TypeError for a required argument that was not given."""
    raise ArgumentTypeError(f"{name}() missing 1 required positional arguments: {parameter!r}")


def check_broadcast(name: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise PyTorch's RuntimeError for shapes that can't be broadcast together."""
    result: tuple[int, ...] = shapes[0]
    for shape in shapes[1:]:
        long, short = (result, shape) if len(result) >= len(shape) else (shape, result)
        padded = (1,) * (len(long) - len(short)) + tuple(short)
        for dim, (a, b) in enumerate(zip(long, padded, strict=True)):
            if a != b and 1 not in (a, b):
                left, right = (a, b) if long is result else (b, a)
                raise OpError(
                    f"{name}(): The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension {dim}"
                )
        result = tuple(b if a == 1 else a for a, b in zip(long, padded, strict=True))


class _Missing:
    """The default of NumPy's names for PyTorch's parameters, which PyTorch takes as well."""

    def __repr__(self) -> str:
        return "<not given>"


MISSING = _Missing()
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}


class Parameter(NamedTuple):
    """A parameter of a declared function. (`inspect.signature` takes ten times as long, and there are hundreds.)"""

    name: str
    annotation: Any
    default: Any
    by_name: bool


def parameters_of(fn: Callable) -> list[Parameter]:
    """The parameters of a plain function, those by name only at the end."""
    fn = inspect.unwrap(fn)
    code, annotations = fn.__code__, fn.__annotations__
    positional = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(zip(reversed(positional), reversed(fn.__defaults__ or ()), strict=False)) | (fn.__kwdefaults__ or {})
    return [
        Parameter(n, annotations.get(n), defaults.get(n, MISSING), i >= len(positional))
        for i, n in enumerate((*positional, *named))
    ]


class Declaration:
    """What ``@op`` was told, and the Ops made from it: one for each set of static arguments."""

    def __init__(self, fn: Callable, name: str, promote: str | None, view: bool, inverse: Any, layout: Any) -> None:
        self.fn = fn
        self.name = name
        self.promote = promote
        self.view = view
        self.inverse = inverse
        self.layout = layout
        self.check: Callable | None = None
        self.result: Callable | None = None
        self.exact_out = False
        self.older: tuple[str, ...] = ()
        self.cast_as: str | None = None  # its name in autocast's tables
        self.parameters = parameters_of(fn)
        self.kinds = [_ARRAYS.get(str(p.annotation), "static") for p in self.parameters]
        # One Op for each combination of statics: a compiled kernel hangs on each, so the number is bounded.
        self.bind = functools.lru_cache(maxsize=2048, typed=True)(self._bind)

    def _bind(self, cast: dtype | None, present: tuple, *statics: Any) -> Op:
        """The Op for given statics. ``present`` has, for each array parameter, how many arrays it takes (None: one)."""
        takes_arrays = [kind != "static" for kind in self.kinds]
        operands = {i for i, kind in enumerate(k for k in self.kinds if k != "static") if kind.startswith("operand")}
        positional = [not p.by_name for p in self.parameters]
        names = [p.name for p in self.parameters]
        fn, name = self.fn, self.name
        # Where each operand stands among the arrays that are given.
        counts = [1 if count is None else max(count, 0) for count in present]
        places = [sum(counts[:i]) for i in sorted(operands) if counts[i]]

        def pure(*arrays: Any) -> Any:
            if len(places) > 1:
                check_broadcast(name, [arrays[i].shape for i in places])
            given, constants = iter(arrays), iter(statics)
            args, kwargs, number = [], {}, 0
            for parameter, is_array, by_position in zip(names, takes_arrays, positional, strict=True):
                if is_array:
                    count = present[number]
                    if count is None:
                        value = next(given)
                        if cast is not None and number in operands:
                            value = value.astype(cast.numpy)
                    else:
                        value = None if count < 0 else [next(given) for _ in range(count)]
                    number += 1
                else:
                    value = next(constants)
                if by_position:
                    args.append(value)
                else:
                    kwargs[parameter] = value
            return fn(*args, **kwargs)

        bound = Op(pure, self.name, view=self.view)
        static_names = [n for n, is_array in zip(names, takes_arrays, strict=True) if not is_array]
        bound.statics = dict(zip(static_names, statics, strict=True))
        if self.inverse is not None:
            bound.inverse = lambda base, value: self.inverse(base, value, *statics)
        if self.layout is not None:
            bound.layout = lambda shape, strides, offset: self.layout(shape, strides, offset, *statics)
        return bound

    def source(self, out: bool) -> str:
        """The text of the public function: checks, promotion, binding, call."""
        lines = [f"if {new} is not MISSING: {old} = {new}" for old, new in self._numpy_names()]
        lines += [f"if keepdim.__class__ is not bool: keepdim = flag_argument(keepdim, {self.name!r})"] * self._keeps()
        if self.older:
            arrays = ", ".join(p.name for p, kind in zip(self.parameters, self.kinds, strict=True) if kind != "static")
            named = ", ".join(f"{name}={name}" for name in (*self.older, *(["out"] if out else [])))
            lines.append(f"if older: return older_order(itself(), {self.older}, ({arrays}, *older), dict({named}))")
        if self._numpy_names():
            required = [p.name for p in self.parameters if p.default is MISSING]
            lines += [f"if {name} is MISSING: missing({self.name!r}, {name!r})" for name in required]
        if self.cast_as is not None:
            arrays = ", ".join(p.name for p, kind in zip(self.parameters, self.kinds, strict=True) if kind != "static")
            lines.append(f"if casting: {arrays}, = cast_arguments({self.cast_as!r}, ({arrays},))")
        for position, (p, kind) in enumerate(zip(self.parameters, self.kinds, strict=True), 1):
            where = f"{p.name}, {self.name!r}, {p.name!r}, {position}"
            if kind == "array":
                lines.append(f"if not isinstance({p.name}, Handle): {p.name} = tensor_argument({where})")
            elif kind == "optional":
                lines.append(f"if {p.name} is not None and not isinstance({p.name}, Handle): tensor_argument({where})")
            elif kind == "sequence":
                lines.append(f"{p.name} = sequence_argument({where})")
            elif kind == "operand":
                lines.append(f"if not isinstance({p.name}, Handle): {p.name} = operand_argument({where})")
            elif kind == "operand?":
                lines.append(
                    f"if {p.name} is not None and not isinstance({p.name}, Handle): {p.name} = operand_argument({where})"
                )
        if self.check:
            lines.append(f"check({', '.join(p.name for p in self.parameters)})")
        lines += self._promotion_lines()
        if self.promote == "arith" and self.kinds.count("operand") == 2 and not self.check:
            lines = self._for_two_tensors(lines)
        named = [p.name for p, kind in zip(self.parameters, self.kinds, strict=True) if kind == "static"]
        statics = [f"{name} if type({name}) in ATOMS else static({name})" for name in named]
        lines.append(f"bound = bind({', '.join(['cast', self._present(), *statics])})")
        arrays = [p.name for p, kind in zip(self.parameters, self.kinds, strict=True) if kind != "static"]
        if len(arrays) <= 2 and all(kind in ("array", "operand", "static") for kind in self.kinds):
            lines.append(f"result = call_{len(arrays)}(bound, {', '.join(arrays)})")
        else:
            lines.append(f"result = call(bound, ({self._arrays()}))")
        if self.result is not None:
            lines.append("result = wrap(result)")
        if out:
            lines.append(f"return result if out is None else into(out, result, {self.name!r}{', True' * self.exact_out})")
        else:
            lines.append("return result")
        return f"def {self.name.split('.')[-1]}({self._signature(out)}):\n    " + "\n    ".join(lines)

    def _keeps(self) -> bool:
        return any(p.name == "keepdim" for p in self.parameters)

    def _numpy_names(self) -> list[tuple[str, str]]:
        return [(p.name, NUMPY_NAMES[p.name]) for p in self.parameters if p.name in NUMPY_NAMES]

    def _promotion_lines(self) -> list[str]:
        names = [p.name for p, k in zip(self.parameters, self.kinds, strict=True) if k == "operand"]
        optional = [p.name for p, k in zip(self.parameters, self.kinds, strict=True) if k == "operand?"]
        if self.promote is None:
            return ["cast = None"]
        floating = self.promote == "float"
        if not optional:
            listed = ", ".join(names)
            return [f"cast, ({listed},) = prepare(({listed},), {floating})"]
        listed = ", ".join(names + optional)
        return [
            f"given = [x for x in ({listed},) if x is not None]",
            f"cast, given = prepare(tuple(given), {floating})",
            "given = iter(given)",
            *[f"{n} = None if {n} is None else next(given)" for n in names + optional],
        ]

    def _for_two_tensors(self, lines: list[str]) -> list[str]:
        """Checks and promotion, which two Tensors of one dtype have no need of."""
        a, b = [p.name for p, k in zip(self.parameters, self.kinds, strict=True) if k == "operand"]
        same = f"isinstance({a}, Handle) and isinstance({b}, Handle) and {a}._payload.dtype is {b}._payload.dtype"
        rest = [line for line in lines if "operand_argument" not in line and "prepare" not in line]
        checks = [f"    {line}" for line in lines if line not in rest]
        return [*rest, f"if {same}:", f"    cast = FROM_NUMPY[{a}._payload.dtype]", "else:", *checks]

    def _present(self) -> str:
        forms = {
            "array": "None",
            "operand": "None",
            "optional": "(-1 if {0} is None else None)",
            "operand?": "(-1 if {0} is None else None)",
            "sequence": "len({0})",
        }
        parts = [forms[k].format(p.name) for p, k in zip(self.parameters, self.kinds, strict=True) if k != "static"]
        return f"({', '.join(parts)},)"

    def _arrays(self) -> str:
        forms = {"optional": "*(() if {0} is None else ({0},))", "sequence": "*{0}"}
        forms["operand?"] = forms["optional"]
        parts = [forms.get(k, "{0}").format(p.name) for p, k in zip(self.parameters, self.kinds, strict=True) if k != "static"]
        return "".join(f"{part}, " for part in parts)

    def _signature(self, out: bool) -> str:
        parts, starred, optional = [], False, False
        for number, p in enumerate(self.parameters):
            if p.by_name and not starred:
                parts.append("*older" if self.older else "*")
                starred = True
            optional = optional or p.default is not MISSING or p.name in NUMPY_NAMES
            parts.append(f"{p.name}=defaults[{number}]" if optional else p.name)
        extra = [f"{new}=MISSING" for old, new in self._numpy_names()] + (["out=None"] if out else [])
        if extra:
            parts += extra if starred else ["*", *extra]
        return ", ".join(parts)


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
        older: the keywords that PyTorch's older order of arguments gives as numbers before or among the Tensors.
    """
    if fn is None:
        return functools.partial(
            op, promote=promote, namespace=namespace, name=name, alias=alias, method=method, inplace=inplace, out=out,
            view=view, inverse=inverse, layout=layout, check=check, result=result, exact_out=exact_out, older=older,
        )  # fmt: skip
    public_name = name or fn.__name__.strip("_")
    declared = Declaration(fn, public_name, promote, view, inverse, layout)
    declared.check, declared.result, declared.exact_out, declared.older = check, result, exact_out, older
    declared.cast_as = casting.function_key(public_name, namespace)
    public: Any = _compile(declared, out and not view)
    public.__doc__, public.__module__, public.__wrapped__, public.__wrapped_op__ = fn.__doc__, fn.__module__, fn, declared
    publish(public, public_name, namespace, alias, method, inplace, declared.kinds)
    return public


def _compile(declared: Declaration, out: bool) -> Callable:
    """The public function. Its text is made when it is first called: there are hundreds, and a program uses a few."""
    scope: dict[str, Any] = {
        "Handle": Handle, "call": call, "call_1": call_one, "call_2": call_two, "ATOMS": _ATOMS, "FROM_NUMPY": FROM_NUMPY, "bind": declared.bind, "static": static, "prepare": prepare, "into": into,
        "tensor_argument": tensor_argument, "operand_argument": operand_argument, "sequence_argument": sequence_argument,
        "casting": casting.active, "cast_arguments": casting.cast_arguments, "check": declared.check, "wrap": declared.result, "MISSING": MISSING, "missing": missing_argument,
        "older_order": older_order, "flag_argument": flag_argument,
        "defaults": [p.default for p in declared.parameters],
    }  # fmt: skip

    def complete() -> None:
        text = declared.source(out)
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
