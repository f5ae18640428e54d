"""Stochastic gradient descent with momentum (Sutskever et al., 2013), as PyTorch has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.direct import Direct, Form, small
from ..errors import ArgumentValueError
from ..tensor import Tensor
from .optimizer import Optimizer
from .ruled import check_fused, check_rate
from .update import apply_rule


def sgd(
    param: Any, grad: Any, state: dict, h: dict, *, momentum: bool, decay: bool, nesterov: bool, maximize: bool, first: bool
) -> tuple:
    """b = mu b + (1 - d) g (b = g at first); p = p - lr (g + mu b with Nesterov, else b)."""
    g = -grad if maximize else grad
    if decay:
        g = g + h["weight_decay"] * param
    if momentum:
        buffer = g if first else h["momentum"] * state["momentum_buffer"] + (1 - h["dampening"]) * g
        g = g + h["momentum"] * buffer if nesterov else buffer
        state = {"momentum_buffer": buffer}
    return param - h["lr"] * g, state


def _direct(options: dict[str, bool], count: int) -> Direct | None:
    """Of steps down the gradient and no more."""
    if any(value for name, value in options.items() if name != "first"):
        return None

    def run(*arrays: Any) -> tuple:
        rate = arrays[-1].astype(arrays[0].dtype)
        new = []
        for param, grad in zip(arrays[:count], arrays[count:-1], strict=True):
            change = np.asarray(np.multiply(grad, rate))
            new.append(np.subtract(param, change, change))
        return tuple(new)

    return Direct(lambda avals: Form(run, False) if small(avals[: 2 * count]) and not avals[-1][0] else None)


sgd.direct = _direct  # type: ignore[attr-defined]


class SGD(Optimizer):
    r"""Stochastic gradient descent: :math:`p \leftarrow p - \gamma b`, :math:`b \leftarrow \mu b + (1 - \tau) g`.

    Args:
        params: see `Optimizer`.
        lr: step size :math:`\gamma`; a number or a Tensor of one element.
        momentum, dampening, weight_decay: :math:`\mu`, :math:`\tau`, and the factor of p that is added to g.
        nesterov: look ahead; needs momentum and no dampening.
        maximize: ascend.
        foreach, fused: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: a negative rate, momentum or decay, or Nesterov without momentum.
        RuntimeError: ``fused`` with ``differentiable`` or ``foreach``.

    >>> import funtorch as torch
    >>> p = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([p], lr=0.1)
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> p
    tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0, nesterov: bool = False,
        *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        for name, value in (("momentum value", momentum), ("weight_decay value", weight_decay)):
            if not isinstance(value, Tensor) and value < 0.0:
                raise ArgumentValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if not group["momentum"]:
                self._change(group, params, [{}] * len(params), False)
                continue
            fresh = [p for p in params if self.state[p].get("momentum_buffer") is None]
            for p in fresh:
                self.state[p]["momentum_buffer"] = p.grad.detach().clone()
            new = set(map(id, fresh))
            for first in (True, False):
                some = [p for p in params if (id(p) in new) == first]
                self._change(group, some, [self.state[p] for p in some], first)
        return loss

    def _change(self, group: dict[str, Any], params: list[Tensor], states: list[dict[str, Any]], first: bool) -> None:
        """``first``: whether the averages begin with these gradients."""
        if not params:
            return
        momentum, decay = bool(group["momentum"]), group["weight_decay"]
        options = {
            "momentum": momentum, "decay": not isinstance(decay, (int, float)) or decay != 0,
            "nesterov": group["nesterov"], "maximize": group["maximize"], "first": first,
        }  # fmt: skip
        apply_rule(
            sgd, group, params, states, ("momentum_buffer",) if momentum else (),
            ("lr", *(("momentum", "dampening") if momentum else ()), *(("weight_decay",) if options["decay"] else ())),
            options, group["differentiable"],
        )  # fmt: skip
