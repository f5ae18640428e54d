"""Collective operations on Python objects: with one process in the group, each gives it back what it brought."""

from __future__ import annotations

import copy
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError
from .collectives import check_rank
from .world import ProcessGroup, the_group

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]


def all_gather_object(object_list: list, obj: Any, group: ProcessGroup | None = None) -> None:
    """Put a copy of each process's object into a list. Raises ValueError before there is a world, or if the list has not one place."""
    the_group(group)
    if len(object_list) != 1:
        raise ArgumentValueError(
            f"all_gather_object(): the list must have one place for each of 1 processes, got {len(object_list)}"
        )
    object_list[0] = copy.deepcopy(obj)


def broadcast_object_list(
    object_list: list,
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give all processes the objects of rank ``src``: they stay as they are. Raises ValueError for a rank not in the group."""
    check_rank("broadcast_object_list", src, group, group_src)


def gather_object(
    obj: Any,
    object_gather_list: list | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Put a copy of each process's object into a list at rank ``dst``. Raises ValueError if there is none, or for a wrong rank."""
    check_rank("gather_object", dst, group, group_dst)
    if not object_gather_list:
        raise ArgumentValueError("gather_object(): argument object_gather_list must be specified on destination rank")
    object_gather_list[0] = copy.deepcopy(obj)


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Put one of the objects of rank ``src`` into each process's list. Raises ValueError if there is none, or for a wrong rank."""
    check_rank("scatter_object_list", src, group, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ArgumentTypeError("scatter_object_list(): expected scatter_object_output_list to be a list of size at least 1")
    if not scatter_object_input_list:
        raise ArgumentValueError("scatter_object_list(): argument scatter_object_input_list must be specified on source rank")
    scatter_object_output_list[0] = copy.deepcopy(scatter_object_input_list[0])
