"""Derivatives compared with finite differences.

A complex number counts as its two parts: for a real-valued loss, PyTorch's gradients are the derivatives by these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.handle import Handle, make
from ..errors import ArgumentValueError, OpError
from .engine import grad
from .modes import enable_grad, no_grad

NO_INPUT = "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, "
    "although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {}."
)


class GradcheckError(OpError):
    """A derivative does not agree with finite differences."""


@dataclass(frozen=True)
class Options:
    """What a check compares, and how closely."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool


def as_tuple(value: Any) -> tuple:
    """A tuple of what a list or tuple holds, or of ``value`` alone."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def parts(array: np.ndarray) -> np.ndarray:
    """The elements as a vector of real numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def whole(parts: np.ndarray, like: Any) -> Any:
    """A Tensor like ``like`` from its elements as real numbers."""
    dtype = like._payload.dtype
    real = np.zeros((), dtype).real.dtype
    flat = np.ascontiguousarray(parts, real)
    return make((flat.view(dtype) if dtype.kind == "c" else flat).reshape(tuple(like.shape)))


class Check:
    """A function at given inputs, and how it is checked."""

    def __init__(self, func: Callable, inputs: tuple, options: Options) -> None:
        self.func, self.inputs, self.options = func, inputs, options
        self.where = [i for i, x in enumerate(inputs) if isinstance(x, Handle) and x._requires]
        if not self.where:
            raise ArgumentValueError(NO_INPUT)
        for i in self.where:
            if str(inputs[i].dtype) not in ("torch.float64", "torch.complex128"):
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                    "likely fail if all the inputs are not of double precision floating point or complex. ",
                    stacklevel=3,
                )
        self.variables = [inputs[i] for i in self.where]
        self.random = np.random.RandomState(0)

    def outputs(self, inputs: Sequence[Any]) -> list[Any]:
        """The results that have derivatives."""
        with enable_grad():
            found = as_tuple(self.func(*inputs))
        return [o for o in found if isinstance(o, Handle) and (o.is_floating_point() or o.is_complex())]

    def run(self) -> None:
        outs = self.outputs(self.inputs)
        if self.options.check_backward_ad:
            self._backward([o for o in outs], [o.requires_grad for o in outs])
        if self.options.check_forward_ad:
            self._forward(outs)
        if self.options.check_undefined_grad and any(o.requires_grad for o in outs):
            self._undefined()
        if self.options.check_batched_grad:
            self._batched(outs)

    # Directions: all unit vectors, or one at random

    def _directions(self, tensor: Any) -> np.ndarray:
        size = parts(np.zeros(tuple(tensor.shape), tensor._payload.dtype)).size
        if not self.options.fast_mode:
            return np.eye(size)
        vector = self.random.rand(1, size) + 0.1
        return vector / max(float(np.linalg.norm(vector)), 1e-12)

    def numerical(self, number: int, directions: np.ndarray) -> list[np.ndarray]:
        """For each output, a row for each direction of input ``number``: derivatives of all its parts."""
        base = self.variables[number]
        start = parts(np.array(base.detach().numpy()))
        rows: list[list[np.ndarray]] = []
        with no_grad():
            for direction in directions:
                ends = []
                for sign in (1.0, -1.0):
                    inputs = list(self.inputs)
                    inputs[self.where[number]] = whole(start + sign * self.options.eps * direction, base).requires_grad_()
                    ends.append([parts(o.detach().numpy()) for o in self.outputs(inputs)])
                rows.append([(a - b) / (2 * self.options.eps) for a, b in zip(*ends, strict=True)])
        return [np.array(r).reshape(len(directions), -1) for r in zip(*rows, strict=True)]

    def analytical(self, output: Any, cotangents: np.ndarray) -> list[np.ndarray]:
        """For each input, a row for each cotangent of ``output``: gradients of all its parts."""
        rows = [self._pull(output, whole(c, output)) for c in cotangents]
        return [np.array(r).reshape(len(cotangents), -1) for r in zip(*rows, strict=True)]

    def _pull(self, output: Any, cotangent: Any) -> list[np.ndarray]:
        grads = grad(output, self.variables, cotangent, retain_graph=True, allow_unused=True)
        for x, g in zip(self.variables, grads, strict=True):
            if g is not None and g.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if g is not None and self.options.check_grad_dtypes and g.dtype != x.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
        return [
            parts(np.zeros(tuple(x.shape), x._payload.dtype) if g is None else g.detach().numpy())
            for x, g in zip(self.variables, grads, strict=True)
        ]

    def _backward(self, outs: list[Any], recorded: list[bool]) -> None:
        cotangents = [self._directions(o) for o in outs]
        pulled = [self.analytical(o, c) if r else None for o, r, c in zip(outs, recorded, cotangents, strict=True)]
        for number, x in enumerate(self.variables):
            directions = self._directions(x)
            for k, numerical in enumerate(self.numerical(number, directions)):
                found = pulled[k]
                if found is None:
                    if not np.allclose(numerical, 0.0, atol=self.options.atol):
                        raise GradcheckError("Numerical gradient for function expected to be zero")
                    continue
                self._compare(numerical @ cotangents[k].T, directions @ found[number].T, k, number, "")
        for k, (o, c) in enumerate(zip(outs, cotangents, strict=True)):
            if recorded[k] and not self._repeats(o, c, pulled[k]):
                raise GradcheckError(NOT_REENTRANT.format(self.options.nondet_tol))

    def _repeats(self, output: Any, cotangents: np.ndarray, before: Any) -> bool:
        """Whether the same walk gives the same.

        The engine may have changed tiers in between, at a count: then one of the next two does.
        """
        for _ in range(3):
            again = self.analytical(output, cotangents)
            if all(np.abs(a - b).max(initial=0) <= self.options.nondet_tol for a, b in zip(again, before, strict=True)):
                return True
            before = again
        return False

    def _compare(self, numerical: np.ndarray, analytical: np.ndarray, output: int, number: int, prefix: str) -> None:
        if not np.allclose(analytical, numerical, rtol=self.options.rtol, atol=self.options.atol, equal_nan=True):
            raise GradcheckError(
                f"{prefix}Jacobian mismatch for output {output} with respect to input {number},\n"
                f"numerical:{numerical}\nanalytical:{analytical}\n"
            )

    def _forward(self, outs: list[Any]) -> None:
        from ..transforms.gradients import jvp

        for number, x in enumerate(self.variables):

            def of_one(value: Any, number: int = number) -> tuple:
                inputs = list(self.inputs)
                inputs[self.where[number]] = value
                return tuple(self.outputs(inputs))

            directions = self._directions(x)
            rows = [[parts(t.detach().numpy()) for t in jvp(of_one, (x.detach(),), (whole(d, x),))[1]] for d in directions]
            for k, numerical in enumerate(self.numerical(number, directions)):
                self._compare(
                    numerical, np.array([r[k] for r in rows]), k, number, "Jacobian computed with forward mode mismatch: "
                )
            if self.options.check_batched_forward_grad:
                self._batched_forward(of_one, x, directions, rows)

    def _batched_forward(self, of_one: Callable, x: Any, directions: np.ndarray, rows: list) -> None:
        from ..transforms.batching import vmap
        from ..transforms.gradients import jvp

        stacked = make(np.stack([whole(d, x)._payload for d in directions]))
        together = vmap(lambda t: jvp(of_one, (x.detach(),), (t,))[1])(stacked)
        for k, found in enumerate(together):
            if not np.allclose([parts(f) for f in found.detach().numpy()], [r[k] for r in rows], rtol=1e-5, atol=1e-8):
                raise GradcheckError("gradcheck failed while testing batched forward gradients")

    def _undefined(self) -> None:
        outs = [o for o in self.outputs(self.inputs) if o.requires_grad]
        zero = [make(np.zeros(tuple(o.shape), o._payload.dtype)) for o in outs]
        chosen = [(outs, zero)] + [([o], [z]) for o, z in zip(outs, zero, strict=True)]
        for roots, cotangents in chosen:
            try:
                grads = grad(roots, self.variables, cotangents, retain_graph=True, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads. Please look at 'Notes about undefined output "
                    f"gradients' in gradcheck: {error}"
                ) from error
            if any(g is not None and np.any(g.detach().numpy() != 0) for g in grads):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
                )

    def _batched(self, outs: list[Any]) -> None:
        for o in outs:
            if not o.requires_grad:
                continue
            cotangents = self._directions(o)
            stacked = make(np.stack([whole(c, o)._payload for c in cotangents]))
            try:
                together = grad(o, self.variables, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True)
            except RuntimeError as error:
                raise GradcheckError(
                    f"gradcheck or gradgradcheck failed while testing batched gradient computation: {error}"
                ) from error
            single = self.analytical(o, cotangents)
            for found, expected in zip(together, single, strict=True):
                rows = 0.0 if found is None else np.array([parts(f) for f in found.detach().numpy()])
                if not np.allclose(rows, expected, rtol=1e-5, atol=1e-8):
                    raise GradcheckError("gradcheck or gradgradcheck failed while testing batched gradient computation.")
