"""Other parameters and states for a while in an optimiser, in place of its own."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ..errors import OpError
from ..tensor import Tensor
from .optimizer import Optimizer

NAME = "swap_in_optimizer_params_and_state"


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Within it, all that an optimiser does it does to other parameters, by other states and options.

    Args:
        optimizer: has its own again at the end.
        swapin_parameters: as many as it has, in the order of its groups.
        swapin_optim_state: as `Optimizer.state_dict` gives it. What is written into its Tensors stays there; what is put into the
            optimiser's state and groups in the meantime is dropped.

    Raises:
        RuntimeError: the optimiser has no state yet, or more parameters than are given, or groups of other sizes.

    >>> import funtorch as torch
    >>> p, q = torch.ones(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    >>> optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.5)
    >>> p.grad, q.grad = torch.zeros(1), torch.ones(1)
    >>> optimizer.step()
    >>> with torch.optim.swap_in_optimizer_params_and_state(optimizer, {"p": q}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> p, q
    (tensor([1.], requires_grad=True), tensor([-0.5000], requires_grad=True))
    """
    params = list(swapin_parameters.values())
    sizes, saved = [len(group["params"]) for group in optimizer.param_groups], swapin_optim_state["param_groups"]
    given = [len(group["params"]) for group in saved]
    if not optimizer.state:
        raise OpError(f"{NAME} requires initialized optimizer state: {type(optimizer).__name__} has none. Take a step first.")
    if given != sizes:
        raise OpError(f"{NAME}: swapin_optim_state has groups of {given} parameters, the optimizer of {sizes}")
    if len(params) < sum(sizes):
        raise OpError(f"{NAME}: expected a parameter for each of the optimizer's {sum(sizes)}, in their order, got {len(params)}")
    numbers = [number for group in saved for number in group["params"]]
    by_number = dict(zip(numbers, params, strict=False))
    state: defaultdict[Any, Any] = defaultdict(
        dict, {p: dict(swapin_optim_state["state"].get(n, {})) for n, p in by_number.items()}
    )
    groups = [{**group, "params": [by_number[number] for number in group["params"]]} for group in saved]
    own = optimizer.param_groups, optimizer.state
    optimizer.param_groups, optimizer.state = groups, state
    try:
        yield
    finally:
        optimizer.param_groups, optimizer.state = own


swap_in_optimizer_params_and_state.__module__ = "funtorch.optim"  # where PyTorch has it
