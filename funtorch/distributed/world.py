"""The world of processes: one, of rank 0. Groups of it, their backends and ranks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError, MissingError

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "Work", "destroy_process_group", "get_backend", "get_global_rank", "get_group_rank",
    "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
    "is_initialized", "new_group",
]  # fmt: skip

NO_WORLD = "Default process group has not been initialized, please make sure to call init_process_group."
SEVERAL = (
    "init_process_group(rank={}, world_size={}): funtorch.distributed has a world of one process; start the script alone, or "
    "with WORLD_SIZE=1"
)


class Backend(str):
    """The name of a backend, in lower case: ``Backend("GLOO") == "gloo"``. Raises ValueError for what is no string."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ArgumentValueError(f"Backend constructor parameter must be string-ish, got {type(name).__name__}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Some of the processes: here the only one, or none."""

    def __init__(self, backend: str, ranks: tuple[int, ...] = (0,)) -> None:
        self.backend, self.ranks = Backend(backend), ranks

    def rank(self) -> int:
        """This process's number in the group, -1 if it is not in it."""
        return 0 if self.ranks else -1

    def size(self) -> int:
        """How many processes are in the group; -1 for one that this process is not in."""
        return len(self.ranks) or -1

    def name(self) -> str:
        """The backend's name."""
        return str(self.backend)


class Work:
    """What ``async_op=True`` returns. All is done already."""

    def wait(self, timeout: Any = None) -> bool:
        """True, at once."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    is_success = is_completed


class GroupMember:
    """``GroupMember.WORLD``, the group of all processes once there is one, and what stands for a group that one is not in."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100


_groups: list[ProcessGroup] = []  # the world first


def _number(name: str, given: int, otherwise: int) -> int:
    return given if given >= 0 else int(os.environ.get(name, otherwise))


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the world, of one process.

    Args:
        backend: any name; "gloo" unless given.
        init_method: accepted, without effect, as are timeout, store, group_name, pg_options and device_id.
        world_size, rank: 1 and 0, taken from the environment's WORLD_SIZE and RANK unless given.

    Differs from PyTorch: where neither the arguments nor the environment say anything, the world is this process.

    Raises:
        NotImplementedError: a world of more than one process is asked for.
        ValueError: the world is there already, or there is no such rank in it.
    """
    if _groups:
        raise ArgumentValueError("trying to initialize the default process group twice!")
    size, place = _number("WORLD_SIZE", world_size, 1), _number("RANK", rank, 0)
    if size > 1:
        raise MissingError(SEVERAL.format(place, size))
    if size != 1 or place != 0:
        raise ArgumentValueError(f"init_process_group(): there is no rank {place} in a world of {size}")
    GroupMember.WORLD = ProcessGroup("gloo" if backend is None else backend)
    _groups.append(GroupMember.WORLD)


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return bool(_groups)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget a group; the world, and with it all, unless one is given. Raises AssertionError where there is none."""
    assert _groups, "Process group cannot be None"
    if group is None or group is _groups[0]:
        _groups.clear()
        GroupMember.WORLD = None
    elif group in _groups:
        _groups.remove(group)
    else:
        raise ArgumentValueError("Invalid process group specified")


def the_group(group: Any = None) -> ProcessGroup:
    """A group, the world for None. Raises ValueError before there is a world, or TypeError if it's no group."""
    if not _groups:
        raise ArgumentValueError(NO_WORLD)
    if group is not None and not isinstance(group, ProcessGroup):
        raise ArgumentTypeError(f"expected a ProcessGroup, got {type(group).__name__}")
    return _groups[0] if group is None else group


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number: 0, or -1 for a group that it is not in. Raises ValueError before there is a world."""
    return the_group(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes there are: 1, or -1 for a group that this one is not in. Raises ValueError before there is a world."""
    return the_group(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The backend's name. Raises ValueError before there is a world."""
    return the_group(group).backend


def get_pg_count() -> int:
    """How many groups there are."""
    return len(_groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine, from the environment's LOCAL_RANK.

    Args:
        fallback_rank: what to return where the environment doesn't say.

    Raises:
        RuntimeError: neither says.
    """
    found = os.environ.get("LOCAL_RANK", fallback_rank)
    if found is None:
        from .errors import DistError

        raise DistError("LOCAL_RANK is not in the environment; pass fallback_rank to allow this")
    return int(found)


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> ProcessGroup | int:
    """A group of some of the world's processes.

    Args:
        ranks: which; all unless given.
        backend: its name; the world's unless given.
        timeout, pg_options, use_local_synchronization, group_desc, device_id, sort_ranks: accepted, without effect.

    Returns:
        The group, or ``GroupMember.NON_GROUP_MEMBER`` if this process is not in it.

    Raises:
        ValueError: before there is a world, or for ranks that are not in it.
    """
    world = the_group()
    chosen = tuple(sorted(ranks)) if ranks is not None else world.ranks
    if any(not 0 <= each < world.size() for each in chosen) or len(chosen) > world.size():
        raise ArgumentValueError(f"new_group(ranks={list(chosen)}): the world has {world.size()} process, of rank 0")
    if not chosen:
        return GroupMember.NON_GROUP_MEMBER
    _groups.append(ProcessGroup(backend or world.backend, chosen))
    return _groups[-1]


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The numbers in the world of a group's processes."""
    return list(the_group(group).ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the world of a group's process. Raises ValueError if there is none of that number."""
    ranks = the_group(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ArgumentValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of the world's process. Raises ValueError if it is not in the group."""
    ranks = the_group(group).ranks
    if global_rank not in ranks:
        raise ArgumentValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)
