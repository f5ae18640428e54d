"""Checkpointing: a part of a model keeps its inputs only, and is computed again when its gradient is asked for."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..cautions import caution
from ..core.casting import resumed
from ..core.handle import Handle
from ..core.keeping import Keeper
from ..core.op import Op
from ..core.python_node import applied
from ..core.recompute import Recomputed
from ..core.segment import Again, Watched, followed
from ..core.state import state
from ..core.trees import flatten, flatten_plain, unflatten
from ..core.variables import depends, frozen, variable
from ..core.views import alias
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from .checkpoint_pieces import (  # noqa: F401
    DefaultDeviceType,
    check_backward_validity,
    detach_variable,
    get_device_states,
    set_checkpoint_early_stop,
    set_device_states,
)

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
]

UNSAID = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; "
    "here both values do the same."
)


class CheckpointError(OpError):
    """A function gave something else when it ran again."""


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing: around the forward run, and around the second one."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accepted as in PyTorch: what differs on the second run is always named."""
    yield


class CheckpointPolicy(enum.Enum):
    """What to do with an op's result: keep it for the second run, or compute it again. Preferences are followed here."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """What a policy is told of the run: ``is_recompute``."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Keeper, Keeper]:
    """The contexts of a `checkpoint` that keeps some results: ``context_fn=functools.partial(create_selective_..., policy)``.

    Args:
        policy_fn_or_list: ``policy(context, op, *args) -> CheckpointPolicy`` (or a bool: whether to keep), or a list of ops
            to keep, by name: ``["mm", "linear"]``. An op has a ``name``, as in `grad_fn`.
        allow_cache_entry_mutation: accepted as in PyTorch; kept values never change.

    Differs from PyTorch: ops are funtorch's, known by their names. Inside transforms and compiled code all is computed again.

    Raises:
        TypeError: neither a function nor a list of names.

    >>> import functools, funtorch as torch
    >>> from funtorch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> x = torch.tensor(0.0, requires_grad=True)
    >>> keep = functools.partial(create_selective_checkpoint_contexts, ["sin"])
    >>> checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False, context_fn=keep).backward()
    >>> x.grad
    tensor(1.)
    """
    if isinstance(policy_fn_or_list, (list, tuple, set, frozenset)):
        names = {getattr(each, "name", each) for each in policy_fn_or_list}
        if not all(isinstance(name, str) for name in names):
            raise ArgumentTypeError("create_selective_checkpoint_contexts(): expected names of ops")

        def policy(context: SelectiveCheckpointContext, op: Op, *args: Any) -> bool:
            return op.name in names
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise ArgumentTypeError(
            "create_selective_checkpoint_contexts(): policy_fn_or_list must be a function or a list of ops, not "
            f"{type(policy_fn_or_list).__name__}"
        )
    kept: list[Any] = []

    def keeper(again: bool) -> Keeper:
        context = SelectiveCheckpointContext(is_recompute=again)

        def wanted(op: Op, args: Sequence[Any]) -> bool:
            chosen = policy(context, op, *args)
            return chosen is True or chosen in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)

        return Keeper(wanted, kept, again)

    return keeper(False), keeper(True)


class _Segment:
    """A function with its arguments, and what its first run read from outside."""

    def __init__(
        self, function: Callable, args: tuple, kwargs: dict, contexts: tuple, preserve_rng_state: bool, check: bool
    ) -> None:
        self.function = function
        self.leaves, self.spec = flatten_plain((args, kwargs))
        self.where = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, Handle)]
        self.arguments = [frozen(self.leaves[i]) for i in self.where]
        self.forward_context, self.again_context = contexts
        self.watched = Watched([*self.arguments, *(self.leaves[i] for i in self.where)], preserve_rng_state)
        self.check = check
        self.autocast = state.autocast
        self.metas: list[Any] = []
        self.out_spec: Any = None
        self.out_leaves: list[Any] = []

    def first(self) -> list[Any]:
        """Run it, and return its results that are Tensors."""
        with self.watched, self.forward_context:
            inputs = [_inner(variable(t, False)) if depends(t) else t for t in self.arguments]
            results = self._run(inputs)
        for i, given in zip(self.where, inputs, strict=True):
            if given._writes != 0:
                raise OpError(
                    f"checkpoint: the function changed argument {i} of shape {list(given._payload.shape)} in place, which it "
                    "could not do again; let it work on a clone"
                )
        for i in self.where:
            self.leaves[i] = None
        tensors = [r for r in results if isinstance(r, Handle)]
        self.metas = [(tuple(t.shape), t.dtype) for t in tensors]
        return tensors

    def _run(self, inputs: Sequence[Any]) -> list[Any]:
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, inputs, strict=True):
            leaves[i] = tensor
        args, kwargs = unflatten(self.spec, leaves)
        self.out_leaves, self.out_spec = flatten(self.function(*args, **kwargs))
        return self.out_leaves

    def captured(self) -> list[tuple[Any, Any]]:
        """Tensors from outside through which a derivative is followed, and what they were."""
        return [(t, was) for t, was in self.watched.outer.values() if depends(was)]

    def again(self, inputs: Sequence[Any]) -> list[Any]:
        """Run it with ``inputs`` in place of the arguments and of what it captured."""
        count = len(self.where)
        captures = iter(inputs[count:])
        outer = [(t, next(captures) if depends(was) else was) for t, was in self.watched.outer.values()]
        before = self.out_leaves, self.out_spec
        with resumed(self.autocast), Again(self.watched, outer), self.again_context:
            results = [r for r in self._run(inputs[:count]) if isinstance(r, Handle)]
        self.out_leaves, self.out_spec = before
        metas = [(tuple(t.shape), t.dtype) for t in results]
        if len(metas) != len(self.metas) or (self.check and metas != self.metas):
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values have different metadata than during the forward pass: "
                f"{self.metas} at first, then {metas}"
            )
        return results


def _inner(variable: Any) -> Any:
    """A result with the values of ``variable``: in place changes of it are seen here, and not refused for being a leaf's."""
    result = alias(variable, detached=False)
    result._base, result._source, result._chain = None, None, ()
    return result


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, computed again when gradients are asked for, instead of keeping what is in between.

    Gradients go to the arguments and to every other Tensor that the function reads (parameters in closures and modules), in
    every transform.

    Differs from PyTorch: what the second run writes to Tensors outside is undone, so that a batch norm's running averages take
    one step a pass, not two.

    Args:
        function: a function of Tensors in nested containers to the same.
        use_reentrant: accepted as in PyTorch; both values do the same.
        preserve_rng_state: draw the same random numbers again.
        context_fn: gives two context managers, for the first and the second run; from
            `create_selective_checkpoint_contexts`, some results are kept.
        determinism_check: "default" compares shapes and dtypes of the two runs' results, "none" only their number.
        debug, early_stop: accepted as in PyTorch.

    Raises:
        RuntimeError: ``function`` changes an argument in place, or gives something else when it runs again.

    >>> import funtorch as torch
    >>> from funtorch.utils.checkpoint import checkpoint
    >>> x = torch.tensor(0.0, requires_grad=True)
    >>> checkpoint(torch.sin, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(1.)
    """
    if not callable(function):
        raise ArgumentTypeError(f"checkpoint(): expected a function, got {type(function).__name__}")
    if determinism_check not in ("default", "none"):
        raise ArgumentValueError(f"checkpoint(): determinism_check must be 'default' or 'none', got {determinism_check!r}")
    if use_reentrant is None:
        caution(UNSAID)
    if use_reentrant is not False:
        check_backward_validity(args)
    if not state.grad:
        return function(*args, **kwargs)
    segment = _Segment(function, args, kwargs, context_fn(), preserve_rng_state, determinism_check == "default")
    returned = segment.first()
    captured = segment.captured()
    inputs = [*segment.arguments, *(was for _, was in captured)]
    if not followed(inputs):
        return unflatten(segment.out_spec, segment.out_leaves)
    body = Recomputed("CheckpointFunctionBackward", segment.again, inputs, [depends(r) for r in returned])
    made = iter(applied(body, inputs, returned))
    leaves = [next(made) if isinstance(leaf, Handle) else leaf for leaf in segment.out_leaves]
    segment.out_leaves = []
    return unflatten(segment.out_spec, leaves)


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """Apply ``functions`` (a Sequential or a list) in turn to ``input``, in ``segments`` checkpointed parts.

    The last part is not checkpointed, as in PyTorch. Raises ValueError for another option than ``preserve_rng_state`` and
    ``context_fn``.

    >>> import funtorch as torch
    >>> from funtorch.utils.checkpoint import checkpoint_sequential
    >>> checkpoint_sequential([torch.sin, torch.exp], 2, torch.zeros(1), use_reentrant=False)
    tensor([1.])
    """
    preserve, contexts = kwargs.pop("preserve_rng_state", True), kwargs.pop("context_fn", noop_context_fn)
    if kwargs:
        raise ArgumentValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant is None:
        caution(UNSAID)
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(parts) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            _chain(parts, start, end), input, use_reentrant=bool(use_reentrant), preserve_rng_state=preserve, context_fn=contexts
        )
    return _chain(parts, end + 1, len(parts) - 1)(input)


def _chain(parts: Sequence[Callable], start: int, end: int) -> Callable:
    def run(input: Any) -> Any:
        for part in parts[start : end + 1]:
            input = part(input)
        return input

    return run
