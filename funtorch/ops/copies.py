"""The view ops as copies: expand_copy, view_copy and the like. Each is its view op, then a clone of every result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dims import wrap_dim
from ..core.views import alias
from ..tensor import Tensor
from .assignment import into
from .broadcasting import expand
from .complex_numbers import view_as_complex, view_as_real
from .conversion import clone
from .declare import function
from .diagonals import diagonal
from .permuting import permute, t, transpose
from .reshaping import view
from .sparse_methods import PLACES, deferred
from .splitting import select, split, split_with_sizes, unbind
from .squeezing import squeeze, unsqueeze
from .strided import as_strided, unfold


def _alias(input: Tensor) -> Tensor:
    return alias(input, detached=False)


def _detach(input: Tensor) -> Tensor:
    return input.detach()


def _slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return input[(slice(None),) * wrap_dim(dim, input.dim()) + (slice(start, end, step),)]


_VIEWS: dict[str, Callable] = {
    "alias": _alias, "as_strided": as_strided, "detach": _detach, "diagonal": diagonal, "expand": expand, "permute": permute,
    "select": select, "slice": _slice, "split": split, "split_with_sizes": split_with_sizes, "squeeze": squeeze, "t": t,
    "transpose": transpose, "unbind": unbind, "unfold": unfold, "unsqueeze": unsqueeze, "view": view,
    "view_as_complex": view_as_complex, "view_as_real": view_as_real,
    **{name: deferred("conversion", name) for name in PLACES},
}  # fmt: skip


def _copied(name: str, view: Callable) -> Callable:
    def copy(input: Tensor, *args: Any, out: Any = None, **named: Any) -> Any:
        seen = view(input, *args, **named)
        made = tuple(map(clone, seen)) if isinstance(seen, tuple) else clone(seen)
        if out is None:
            return made
        written = into(out, made, name)
        return None if isinstance(made, tuple) else written  # several results are only written

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"``{name.removesuffix('_copy')}`` as a copy, with the same arguments."
    return copy


for _name, _view in _VIEWS.items():
    function(name=f"{_name}_copy")(_copied(f"{_name}_copy", _view))
