"""L-BFGS (Nocedal and Wright, 2006, algorithms 7.4 and 7.5), as PyTorch has it: a loop in Python that calls the closure again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.modes import no_grad
from ..core.foreign import is_foreign
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..ops.complex_numbers import view_as_real
from ..ops.joining import cat
from ..tensor import Tensor
from .optimizer import Optimizer
from .ruled import check_rate
from .strong_wolfe import Point, search

LEAST_CURVATURE = 1e-10
# What the state holds, in the order of PyTorch's.
KEYS = ("func_evals", "n_iter", "al", "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


def _real(x: Tensor) -> Tensor:
    return view_as_real(x) if x.is_complex() else x


def _number(loss: Any) -> float:
    """A loss as a number; the graph that it came from is of no use any more."""
    return loss.item() if isinstance(loss, Tensor) else float(loss)


def _flat(tensors: list[Tensor]) -> Tensor:
    return cat([_real(x).reshape(-1) for x in tensors])


class LBFGS(Optimizer):
    """Limited-memory BFGS: a quasi-Newton method for the loss that a closure computes.

    Args:
        params: see `Optimizer`; one group.
        lr: step size; a number or a Tensor of one element.
        max_iter, max_eval: iterations and calls of the closure in one step; the second is 5/4 of the first unless given.
        tolerance_grad: end when no element of the gradient is larger.
        tolerance_change: end when neither the loss nor an element changes by more.
        history_size: how many past steps give the curvature.
        line_search_fn: None or "strong_wolfe".

    Raises:
        ValueError: a negative rate, or several groups.
        RuntimeError: from `step`, another line search.
        AssertionError: from `step`, a group that was added later.
    """

    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ArgumentValueError(
                f"LBFGS doesn't support per-parameter options (parameter groups), got {len(self.param_groups)}"
            )

    def _gradient(self) -> Tensor:
        """All gradients as one row; zeros for parameters without."""
        grads = [p.new_zeros(p.shape) if p.grad is None else p.grad for p in self.param_groups[0]["params"]]
        return _flat([grad.to_dense() if is_foreign(grad) else grad for grad in grads])

    def _move(self, direction: Tensor, by: float) -> None:
        """Add ``by`` times a row to the parameters."""
        start = 0
        for p in self.param_groups[0]["params"]:
            real = _real(p)
            part = direction[start : start + real.numel()]
            real.add_(part.reshape(real.shape), alpha=by)
            start += real.numel()

    @no_grad()
    def step(self, closure: Callable | None = None) -> Any:
        """Minimise the loss that ``closure`` computes, with gradients; returns the first one. Raises TypeError without a closure."""
        if closure is None:
            raise ArgumentTypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise OpError(f"only 'strong_wolfe' is supported, got line_search_fn={group['line_search_fn']!r}")
        state = self.state[group["params"][0]]
        before = tuple(state)
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = self._closure_loss(closure)
        state["func_evals"] += 1
        grad = self._gradient()
        if float(grad.abs().max()) <= group["tolerance_grad"]:
            return first
        self._descend(closure, state, _number(first), grad)
        ordered = {
            key: state[key] for key in (*before, *KEYS) if key in state
        }  # as PyTorch's: "al" last if it comes in a later step
        state.clear()
        state.update(ordered)
        return first

    def _descend(self, closure: Callable, state: dict[str, Any], loss: float, grad: Tensor) -> None:
        group = self.param_groups[0]
        rate, tiny = group["lr"], group["tolerance_change"]
        number = rate.item() if isinstance(rate, Tensor) else rate
        calls = 1
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = _direction(state, grad, group["history_size"])
            before = loss
            state.update(d=direction, prev_flat_grad=grad.clone(), prev_loss=loss)
            t = min(1.0, 1.0 / float(grad.abs().sum())) * number if state["n_iter"] == 1 else number
            state["t"] = rate.new_full((), t) if isinstance(rate, Tensor) else t  # a Tensor where the rate is one
            slope = float(grad.dot(direction))
            if slope > -tiny:
                return
            last = iteration == group["max_iter"]
            if group["line_search_fn"] is not None:
                start, reach = Point(0.0, loss, grad, slope), float(direction.abs().max())
                found, spent = search(self._along(closure, direction), start, t, group["max_eval"] - calls, reach, 1e-9)
                loss, grad, state["t"] = found.value, found.grad, found.t
                self._move(direction, found.t)
            else:
                self._move(direction, t)
                spent = 0 if last else 1
                if not last:
                    loss, grad = _number(self._closure_loss(closure)), self._gradient()
            calls += spent
            state["func_evals"] += spent
            moved = abs(float(state["t"])) * float(direction.abs().max())
            small = float(grad.abs().max()) <= group["tolerance_grad"] or moved <= tiny or abs(loss - before) < tiny
            if last or calls >= group["max_eval"] or small:
                return

    def _along(self, closure: Callable, direction: Tensor) -> Callable[[float], Point]:
        """The loss at a distance along a line; the parameters come back to where they are now."""
        params = self.param_groups[0]["params"]
        start = [p.clone() for p in params]

        def evaluate(t: float) -> Point:
            self._move(direction, t)
            loss, grad = _number(self._closure_loss(closure)), self._gradient()
            for p, value in zip(params, start, strict=True):
                p.copy_(value)
            return Point(t, loss, grad, float(grad.dot(direction)))

        return evaluate


def _direction(state: dict[str, Any], grad: Tensor, most: int) -> Tensor:
    """Minus the gradient times the inverse Hessian that past steps make out: the two-loop recursion."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return -grad
    changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    change, step = grad - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = change.dot(step)
    if float(curvature) > LEAST_CURVATURE:
        if len(changes) == most:
            for kept in (changes, steps, inverses):
                kept.pop(0)
        changes.append(change)
        steps.append(step)
        inverses.append(1.0 / curvature)
        state["H_diag"] = curvature / change.dot(change)
    parts = state.setdefault("al", [None] * most)
    row = -grad
    for i in reversed(range(len(changes))):
        parts[i] = steps[i].dot(row) * inverses[i]
        row = row - changes[i] * parts[i]
    row = row * state["H_diag"]
    for i in range(len(changes)):
        row = row + steps[i] * (parts[i] - changes[i].dot(row) * inverses[i])
    return row
