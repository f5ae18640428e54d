"""Stochastic gradient descent with momentum (Sutskever et al., 2013), as PyTorch has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.modes import set_grad_enabled
from ..core.direct import Direct, Form, small
from ..core.foreign import is_foreign
from ..core.writing import write
from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .lists import is_recorded, skipped
from .optimizer import Optimizer
from .ruled import check_fused, check_rate, complete
from .update import apply_rule, grads_of


def sgd_rule(
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


sgd_rule.direct = _direct  # type: ignore[attr-defined]


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

    def __setstate__(self, saved: dict) -> None:
        super().__setstate__(saved)
        complete(self)

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients. Raises RuntimeError for sparse ones with weight decay, as for any sum with a dense Tensor."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params: list[Tensor] = []
            grads: list[Tensor] = []
            buffers: list[Tensor | None] = []
            self._init_group(group, params, grads, buffers)
            _move(group, params, grads, buffers, group["differentiable"])
            for p, buffer in zip(params, buffers, strict=False):  # without momentum there are none
                self.state[p]["momentum_buffer"] = buffer
        return loss

    def _init_group(self, group: dict[str, Any], params: list, grads: list, momentum_buffer_list: list) -> bool:
        """Append to lists what the functional form takes; whether a gradient is sparse."""
        moving = [p for p in group["params"] if p.grad is not None]
        params += moving
        grads += grads_of(moving)
        if group["momentum"]:
            momentum_buffer_list += [self.state[p].get("momentum_buffer") for p in moving]
        return any([grad._foreign for grad in grads])


def _move(
    group: dict[str, Any], params: list[Tensor], grads: list[Tensor], buffers: list[Tensor | None], differentiable: bool
) -> None:  # fmt: skip
    """A step for lists; with momentum, ``buffers`` are averages, and one that is None begins with its gradient."""
    momentum, decay = bool(group["momentum"]), group["weight_decay"]
    names = ("lr", *(("momentum", "dampening") if momentum else ()))
    options = {
        "momentum": momentum, "decay": not isinstance(decay, (int, float)) or decay != 0,
        "nesterov": group["nesterov"], "maximize": group["maximize"],
    }  # fmt: skip
    names += ("weight_decay",) if options["decay"] else ()
    sparse = [i for i, grad in enumerate(grads) if grad._foreign or (momentum and is_foreign(buffers[i]))]
    if sparse and group.get("fused"):
        raise OpError("`_fused_sgd` does not support sparse gradients")
    for i in sparse:
        _move_sparse(group, params[i], grads[i], buffers, i, options, differentiable)
    dense = [i for i in range(len(params)) if i not in set(sparse)] if sparse else range(len(params))
    fresh = {i for i in dense if buffers[i] is None} if momentum else set()
    for i in fresh:
        buffers[i] = grads[i].detach().clone()
    for first in (True, False):
        some = [i for i in dense if (i in fresh) == first]
        states: list[dict[str, Any]] = [{"momentum_buffer": buffers[i]} if momentum else {} for i in some]
        apply_rule(
            sgd_rule, group, [params[i] for i in some], states, ("momentum_buffer",) if momentum else (), names,
            {**options, "first": first}, differentiable, [grads[i] for i in some],
        )  # fmt: skip


def _move_sparse(
    group: dict[str, Any], param: Tensor, grad: Tensor, buffers: list[Tensor | None], place: int, options: dict[str, Any], differentiable: bool
) -> None:  # fmt: skip
    """The rule of Tensors rather than arrays: sums and products are all that it has, and an average of sparse gradients is sparse."""
    first = options["momentum"] and buffers[place] is None
    with set_grad_enabled(differentiable):
        start = grad.detach().clone() if first else grad  # which the average must not be
        state = {"momentum_buffer": buffers[place]} if options["momentum"] else {}
        new, state = sgd_rule(param, start, state, group, **options, first=first)
        write(param, new)
    if options["momentum"]:
        buffers[place] = state["momentum_buffer"]


def sgd(
    params: list[Tensor], d_p_list: list[Tensor], momentum_buffer_list: list[Tensor | None], has_sparse_grad: bool = False,
    foreach: bool | None = None, fused: bool | None = None, grad_scale: Tensor | None = None, found_inf: Tensor | None = None, *,
    weight_decay: float, momentum: float, lr: Any, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """One step of `SGD` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, d_p_list: parameters and gradients, of equal lengths; what is on the tape is decided by grad mode.
        momentum_buffer_list: their averages; where one is None, the list gets a new one.
        fused, grad_scale, found_inf: a fused step divides the gradients by the scale, in place, and is left out if one was infinite.

    Raises:
        RuntimeError: a parameter that is a leaf and requires grad in grad mode.
        AssertionError: a scale of gradients for a step that isn't fused.
    """
    if skipped(fused, d_p_list, grad_scale, found_inf):
        return
    group = {
        "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
        "fused": fused,
    }  # fmt: skip
    _move(group, params, d_p_list, momentum_buffer_list, is_recorded(params, d_p_list, momentum_buffer_list, group.values()))
