"""Collective operations on Tensors: with one process in the group, each gives it back what it brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.modes import no_grad
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from .reduction import ReduceOp
from .world import ProcessGroup, Work, the_group

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "scatter",
]  # fmt: skip


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def check_rank(op: str, rank: int | None, group: Any, group_rank: int | None = None) -> None:
    """Raises ValueError unless the rank that an operation comes from or goes to is in the group; 0 for None."""
    ranks = the_group(group).ranks
    asked = rank if rank is not None else 0 if group_rank is None else group_rank
    if asked not in ranks:
        raise ArgumentValueError(f"{op}(): rank {asked} is not in the group, whose ranks are {list(ranks)}")


def _check_tensors(op: str, **tensors: Any) -> None:
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"{op}(): expected {name} to be a Tensor, got {type(value).__name__}")


def _only(op: str, name: str, tensors: Any) -> Tensor:
    """The Tensor in a list with one for each process."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(each, Tensor) for each in tensors):
        raise ArgumentTypeError(f"{op}(): expected {name} to be a list of Tensors, got {type(tensors).__name__}")
    if len(tensors) != 1:
        raise OpError(
            f"{op}(): {name} must have one Tensor for each of the group's processes, of which there is 1, got {len(tensors)}"
        )
    return tensors[0]


@no_grad()
def _copy(op: str, target: Tensor, source: Tensor) -> None:
    if target.numel() != source.numel() or target.dtype != source.dtype:
        raise OpError(
            f"{op}(): the output must have the input's size and dtype, got {tuple(target.shape)} of {target.dtype} for "
            f"{tuple(source.shape)} of {source.dtype}"
        )
    target.copy_(source.detach().reshape(target.shape))


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Reduce the processes' Tensors to one, in place: it stays as it is. Raises ValueError before there is a world."""
    _check_tensors("all_reduce", tensor=tensor)
    the_group(group)
    return _done(async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give all processes the Tensor of rank ``src``, in place: it stays as it is. Raises ValueError for a rank not in the group."""
    _check_tensors("broadcast", tensor=tensor)
    check_rank("broadcast", src, group, group_src)
    return _done(async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the processes' Tensors to one at rank ``dst``: it stays as it is. Raises ValueError for a rank not in the group."""
    _check_tensors("reduce", tensor=tensor)
    check_rank("reduce", dst, group, group_dst)
    return _done(async_op)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Copy each process's Tensor to a list of one for each.

    Args:
        tensor_list: one Tensor, written to.
        tensor: of its size and dtype.
        group: the world unless given.
        async_op: whether to return a `Work`, which is done.

    Raises:
        RuntimeError: the list has not one Tensor, of the other's size and dtype.
        ValueError: there is no world yet.
    """
    _check_tensors("all_gather", tensor=tensor)
    the_group(group)
    _copy("all_gather", _only("all_gather", "tensor_list", tensor_list), tensor)
    return _done(async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Copy the processes' Tensors, one after another, into one. Raises RuntimeError if sizes or dtypes differ."""
    _check_tensors("all_gather_into_tensor", output_tensor=output_tensor, input_tensor=input_tensor)
    the_group(group)
    _copy("all_gather_into_tensor", output_tensor, input_tensor)
    return _done(async_op)


all_gather_single = all_gather_into_tensor  # its newer name


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy each process's Tensor to a list at rank ``dst``. Raises as `all_gather` does, and ValueError for a rank not in the group."""
    _check_tensors("gather", tensor=tensor)
    check_rank("gather", dst, group, group_dst)
    if not gather_list:
        raise ArgumentValueError("gather(): argument gather_list must be specified on destination rank")
    _copy("gather", _only("gather", "gather_list", gather_list), tensor)
    return _done(async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each process one of rank ``src``'s list. Raises as `all_gather` does, and ValueError for a rank not in the group."""
    _check_tensors("scatter", tensor=tensor)
    check_rank("scatter", src, group, group_src)
    if not scatter_list:
        raise ArgumentValueError("scatter(): argument scatter_list must be specified on source rank")
    _copy("scatter", tensor, _only("scatter", "scatter_list", scatter_list))
    return _done(async_op)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce the processes' lists and give each one part of the result. Raises as `all_gather` does."""
    _check_tensors("reduce_scatter", output=output)
    the_group(group)
    _copy("reduce_scatter", output, _only("reduce_scatter", "input_list", input_list))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Reduce the processes' Tensors and give each one part of the result. Raises RuntimeError if sizes or dtypes differ."""
    _check_tensors("reduce_scatter_tensor", output=output, input=input)
    the_group(group)
    _copy("reduce_scatter_tensor", output, input)
    return _done(async_op)


reduce_scatter_single = reduce_scatter_tensor


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send each process one of a list and get one from each. Raises as `all_gather` does."""
    the_group(group)
    target = _only("all_to_all", "output_tensor_list", output_tensor_list)
    _copy("all_to_all", target, _only("all_to_all", "input_tensor_list", input_tensor_list))
    return _done(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send each process a part of a Tensor and get one from each. Raises RuntimeError if sizes or dtypes differ."""
    _check_tensors("all_to_all_single", output=output, input=input)
    the_group(group)
    _copy("all_to_all_single", output, input)
    return _done(async_op)


def barrier(
    group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None
) -> Work | None:
    """Wait until all processes are here: they are. Raises ValueError before there is a world."""
    the_group(group)
    return _done(async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """As `barrier`."""
    barrier(group)
