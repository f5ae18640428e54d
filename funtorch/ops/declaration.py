"""What ``@op`` is told of a function, its parameters by kind, and the Ops that are made of it.

The annotations say what each parameter is: ``Array``, ``Array | None``, ``Arrays`` (a sequence of Tensors), ``Operand``
(a Tensor or a Python number, which takes part in type promotion), ``Operand | None``; every other parameter is static:
it must be hashable (lists become tuples) and is part of the Op's identity.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.compiler_options import Options
from ..core.direct import Direct
from ..core.gathered import Gathered
from ..core.op import Op
from ..dtypes import dtype
from .arguments import check_broadcast

KINDS = {"Array": "array", "Array | None": "optional", "Arrays": "sequence", "Operand": "operand", "Operand | None": "operand?"}


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
        self.gathered: Callable[..., Gathered | None] | None = None
        self.squared: Callable[..., Callable | None] | None = None
        self.squares: Callable[..., int] | None = None
        self.direct: Callable[..., Direct | None] | None = None
        self.cast_as: str | None = None  # its name in autocast's tables
        self.unrounded: tuple[str, ...] = ()
        self.compiled: Callable[..., tuple[Callable, Callable, Options]] | None = None
        self.parameters = parameters_of(fn)
        self.kinds = [KINDS.get(str(p.annotation), "static") for p in self.parameters]
        # One Op for each combination of statics: a compiled kernel hangs on each, so the number is bounded.
        self.bind = functools.lru_cache(maxsize=2048, typed=True)(self._bind)

    def of_kind(self, *kinds: str) -> list[str]:
        """The names of the parameters of these kinds, in order."""
        return [p.name for p, kind in zip(self.parameters, self.kinds, strict=True) if kind in kinds]

    def arrays(self) -> list[tuple[str, str]]:
        """The name and the kind of each parameter that is not static."""
        return [(p.name, kind) for p, kind in zip(self.parameters, self.kinds, strict=True) if kind != "static"]

    def _whole(self, cast: dtype | None, counts: list[int]) -> list[int]:
        """Where the operands stand that are not rounded to a half type; none where ``cast`` is no such type."""
        if not self.unrounded or cast is None or not cast.is_floating_point or cast.itemsize != 2:
            return []
        order = [array for array, _ in self.arrays()]
        return [sum(counts[: order.index(n)]) for n in self.unrounded]

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
        whole = self._whole(cast, counts)

        def pure(*arrays: Any) -> Any:
            if len(places) > 1:
                check_broadcast(name, [arrays[i].shape for i in places])
            kind = None if cast is None else cast.numpy
            if any(not arrays[i].ndim and arrays[i].dtype != kind for i in whole):
                return computed(np.dtype(np.float32), arrays).astype(kind)
            return computed(kind, arrays)

        def computed(kind: Any, arrays: Any) -> Any:
            given, constants = iter(arrays), iter(statics)
            args, kwargs, number = [], {}, 0
            for parameter, is_array, by_position in zip(names, takes_arrays, positional, strict=True):
                if is_array:
                    count = present[number]
                    if count is None:
                        value = next(given)
                        if kind is not None and number in operands:
                            value = value.astype(kind)
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
        bound.statics = dict(zip(self.of_kind("static"), statics, strict=True))
        if self.gathered is not None:
            bound.gathered = self.gathered(present, *statics)
        if self.squared is not None and (below := self.squared(*statics)) is not None:
            bound.squared = Op(below, f"{self.name}_squared")
        if self.squares is not None:
            bound.squares = self.squares(*statics)
        if self.direct is not None:
            bound.direct = self.direct(present, *statics)
        if self.compiled is not None:
            bound.compiled, bound.compiled_vjp, bound.options = self.compiled(present, *statics)
        if self.inverse is not None:
            bound.inverse = lambda base, value: self.inverse(base, value, *statics)
        if self.layout is not None:
            bound.layout = lambda shape, strides, offset: self.layout(shape, strides, offset, *statics)
        return bound
