"""jacrev, jacfwd, hessian: whole matrices of derivatives, a row or a column for each lane of a vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.trees import Spec, flatten, tree_map, unflatten
from ..core.variables import unit_vectors
from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .batching import vmap
from .gradients import _selected, jvp, vjp


def _bound(func: Callable, args: tuple, kwargs: dict, numbers: tuple[int, ...]) -> tuple[Callable, tuple]:
    """``func`` as a function of the arguments with these numbers alone, and these arguments."""

    def of_selected(*selected: Any) -> Any:
        full = list(args)
        for number, value in zip(numbers, selected, strict=True):
            full[number] = value
        return func(*full, **kwargs)

    return of_selected, tuple(args[n] for n in numbers)


def jacrev(
    func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None, _preallocate_and_copy: bool = False
) -> Callable:
    """The Jacobian of ``func``, a row at a time (reverse mode), rows vectorised.

    Args:
        func: a function of Tensors in nested containers to the same.
        argnums: the argument(s) to differentiate by.
        chunk_size: how many rows to compute at a time (default: all).

    Returns:
        A function to the Jacobian: for an output of shape S and an argument of shape A, a Tensor of shape (*S, *A), in
        the structure of the output, each leaf in that of the arguments. With ``has_aux``: (jacobian, aux).

    >>> import funtorch as torch
    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check_chunk("jacrev", chunk_size)

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers, several = _selected(argnums, args, "jacrev")
        selected_func, selected = _bound(func, args, kwargs, numbers)
        output, pull, *aux = vjp(selected_func, *selected, has_aux=has_aux)
        outs, out_spec = flatten(output)
        rows = vmap(lambda *b: pull(unflatten(out_spec, b)), chunk_size=chunk_size)(*unit_vectors(outs))
        in_leaves, in_spec = flatten(rows)
        blocks = [_split_rows(leaf, outs) for leaf in in_leaves]
        result = _assemble(out_spec, in_spec, len(outs), lambda o, i: blocks[i][o], several)
        return (result, *aux) if has_aux else result

    return jacobian


def _split_rows(rows: Tensor, outs: list[Tensor]) -> list[Tensor]:
    """Rows (sum of elements, *A) as one Tensor (*S, *A) for each output of shape S."""
    pieces, at = [], 0
    for out in outs:
        size = out.numel()
        pieces.append(rows.narrow(0, at, size).reshape((*out.shape, *rows.shape[1:])))
        at += size
    return pieces


def _assemble(out_spec: Spec, in_spec: Spec, outputs: int, block: Callable, several: bool) -> Any:
    """Blocks in the structure of the output, each leaf in the structure of the arguments."""
    parts = []
    for o in range(outputs):
        inside = unflatten(in_spec, [block(o, i) for i in range(in_spec.count)])
        parts.append(inside if several else inside[0])
    return unflatten(out_spec, parts)


def jacfwd(
    func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error", chunk_size: int | None = None
) -> Callable:
    """The Jacobian of ``func``, a column at a time (forward mode), columns vectorised. See `jacrev`."""
    _check_chunk("jacfwd", chunk_size)

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers, several = _selected(argnums, args, "jacfwd")
        selected_func, selected = _bound(func, args, kwargs, numbers)
        leaves, spec = flatten(selected)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise OpError(f"jacfwd(): expected Tensors to differentiate by, got {type(leaf).__name__}")

        def push(*dots: Any) -> Any:
            _, dot, *aux = jvp(selected_func, selected, unflatten(spec, dots), has_aux=has_aux)
            return dot, *aux

        each = randomness == "different"  # then what is no derivative has lanes too, and the first one's is handed out
        dims = (0, 0 if each else None) if has_aux else (0,)
        columns, *aux = vmap(push, out_dims=dims, randomness=randomness, chunk_size=chunk_size)(*unit_vectors(leaves))
        if each:
            aux = tree_map(lambda lanes: lanes[0], aux)
        found, out_spec = flatten(columns)
        blocks = [_split_columns(c, leaves) for c in found]
        result = _assemble(out_spec, spec, len(found), lambda o, i: blocks[o][i], several)
        return (result, *aux) if has_aux else result

    return jacobian


def _split_columns(columns: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Columns (sum of elements, *S) as one Tensor (*S, *A) for each argument of shape A."""
    pieces, at = [], 0
    last = columns.movedim(0, -1)  # (*S, sum)
    for leaf in leaves:
        size = leaf.numel()
        pieces.append(last.narrow(-1, at, size).reshape((*columns.shape[1:], *leaf.shape)))
        at += size
    return pieces


def hessian(func: Callable, argnums: Any = 0, *, chunk_size: int | None = None) -> Callable:
    """The matrix of second derivatives, forward over reverse: shape (*A, *A) for a scalar function of shape A.

    >>> import funtorch as torch
    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.ones(2))
    tensor([[6., 0.],
            [0., 6.]])
    """
    return jacfwd(jacrev(func, argnums, chunk_size=chunk_size), argnums, chunk_size=chunk_size)


def _check_chunk(name: str, chunk_size: int | None) -> None:
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentValueError(f"{name}: `chunk_size` should be greater than 0, got {chunk_size}")
