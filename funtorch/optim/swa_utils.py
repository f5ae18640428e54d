"""Averages of weights over training: equal parts (Izmailov et al., 2018) or decaying ones (Polyak and Juditsky, 1992)."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.modes import no_grad
from ..errors import ArgumentValueError
from ..nn.module import Module
from ..nn.modules.batchnorm import _BatchNorm
from ..ops.given_data import tensor
from ..tensor import Tensor
from .lr_scheduler.swa import SWALR

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
AverageOfMany = Callable[[list[Tensor], list[Tensor], Any], None]


def get_swa_avg_fn() -> Average:
    """A function that adds one more to an average of equal parts: a + (p - a) / (n + 1)."""

    @no_grad()
    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        return averaged + (current - averaged) / (num_averaged + 1)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function that moves an average by a part: decay a + (1 - decay) p. Raises ValueError for a decay outside [0, 1]."""
    if not 0.0 <= decay <= 1.0:
        raise ArgumentValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def _of_many(average: Average) -> AverageOfMany:
    """The same for lists of Tensors, in place."""

    @no_grad()
    def averages(averaged: list[Tensor], current: list[Tensor], num_averaged: Any) -> None:
        for mine, theirs in zip(averaged, current, strict=True):
            mine.copy_(average(mine, theirs, num_averaged))

    return averages


def get_swa_multi_avg_fn() -> AverageOfMany:
    """`get_swa_avg_fn` for lists of Tensors, in place."""
    return _of_many(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageOfMany:
    """`get_ema_avg_fn` for lists of Tensors, in place. Raises ValueError for a decay outside [0, 1]."""
    return _of_many(get_ema_avg_fn(decay))


class AveragedModel(Module):
    """A copy of a model whose parameters are the average of those that the model had at each `update_parameters`.

    Args:
        model: it is copied; the average is in ``module``.
        device: where the copy goes.
        avg_fn: the new average from the old one, a parameter, and how many were averaged; equal parts unless given.
        multi_avg_fn: the same for lists of Tensors, in place.
        use_buffers: average the buffers, too, rather than copying them.

    Raises:
        AssertionError: both functions are given.

    >>> import funtorch as torch
    >>> model = torch.nn.Linear(1, 1)
    >>> averaged = torch.optim.swa_utils.AveragedModel(model)
    >>> averaged.update_parameters(model)
    >>> averaged.n_averaged
    tensor(1)
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None, multi_avg_fn: AverageOfMany | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the parameters that ``model`` has now into the average; the first time, as they are."""
        pairs = list(zip(self._averaged(self.module), self._averaged(model), strict=True))
        mine, theirs = [a.detach() for a, _ in pairs], [b.detach().to(a.device) for a, b in pairs]
        if self.n_averaged == 0:  # a decision that compiled code can go on with, unlike the number itself
            _copy(mine, theirs)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(mine, theirs, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            _copy(mine, [average(a, b, self.n_averaged) for a, b in zip(mine, theirs, strict=True)])
        if not self.use_buffers:
            _copy(list(self.module.buffers()), [b.detach() for b in model.buffers()])
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable[Tensor]:
        return itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()


def _copy(targets: list[Tensor], values: list[Tensor]) -> None:
    for target, value in zip(targets, values, strict=True):
        target.copy_(value)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Set the statistics of a model's batch-norm layers to those of the data of ``loader``: inputs, or tuples that begin with one."""
    layers = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not layers:
        return
    training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # equal parts of all batches
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(training)


SWALR.__module__ = __name__  # how it is printed and pickled
