"""DistributedDataParallel over the world that there is: one process, whose gradients are the mean already."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ...distributed.world import ProcessGroup, the_group
from ...errors import OpError
from ..module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients would be averaged over processes. There is one: it is called as it is.

    Args:
        module: it becomes ``.module``, and "module." the beginning of each name in the ``state_dict``.
        device_ids, output_device, dim: accepted, without effect.
        process_group: the world unless given.
        broadcast_buffers, init_sync, bucket_cap_mb, find_unused_parameters, check_reduction, gradient_as_bucket_view,
            static_graph, mixed_precision: accepted, without effect.

    Raises:
        ValueError: `distributed.init_process_group` has not been called.
        RuntimeError: no parameter of the module requires a gradient.

    Example:
        >>> torch.distributed.init_process_group("gloo"); list(nn.parallel.DistributedDataParallel(nn.Linear(1, 1)).state_dict())
        ['module.weight', 'module.bias']
        >>> torch.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        mixed_precision: Any = None,
    ) -> None:
        super().__init__()
        self.process_group = the_group(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise OpError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
            )
        self.module = module
        self.device_ids, self.output_device, self.dim = device_ids, output_device, dim
        self.device = next(module.parameters()).device
        self.broadcast_buffers, self.find_unused_parameters, self.static_graph = (
            broadcast_buffers,
            find_unused_parameters,
            static_graph,
        )
        self.require_backward_grad_sync = self.require_forward_param_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients of this process alone within the block, as they are outside of it too."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Any:
        """A block in which processes may have different numbers of batches: nothing to do for one."""
        return contextlib.nullcontext()
