"""gradcheck, gradgradcheck: derivatives compared with finite differences.

A complex number counts as its two parts: for a real-valued loss, PyTorch's gradients are the derivatives by these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.handle import Handle, make
from ..core.variables import variable
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


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func`` with central differences ``(f(x + eps) - f(x - eps)) / (2 eps)``.

    Args:
        func: a function of Tensors to a Tensor or several.
        inputs: its arguments; those that require grad are checked, and should be of double precision.
        raise_exception: raise on a mismatch, rather than return False.
        nondet_tol: how far two runs of the same backward may differ.
        check_undefined_grad: also with cotangents that are zero or absent.
        check_batched_grad, check_batched_forward_grad: also under ``vmap``.
        check_forward_ad: also forward mode.
        fast_mode: compare along random directions only.
        masked: accepted as in PyTorch.

    Returns:
        True if all agree within ``atol`` and ``rtol``.

    Raises:
        RuntimeError: they don't (GradcheckError).
        ValueError: no input requires grad.

    >>> import funtorch as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, x)
    True
    """
    options = Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_batched_forward_grad,
        check_forward_ad, check_backward_ad, fast_mode,
    )  # fmt: skip
    if not check_forward_ad and not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        _Check(func, _as_tuple(inputs), options).run()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _as_tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _parts(array: np.ndarray) -> np.ndarray:
    """The elements as a vector of real numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _whole(parts: np.ndarray, like: Any) -> Any:
    """A Tensor like ``like`` from its elements as real numbers."""
    dtype = like._payload.dtype
    real = np.zeros((), dtype).real.dtype
    flat = np.ascontiguousarray(parts, real)
    return make((flat.view(dtype) if dtype.kind == "c" else flat).reshape(tuple(like.shape)))


class _Check:
    def __init__(self, func: Callable, inputs: tuple, options: Options) -> None:
        self.func, self.inputs, self.options = func, inputs, options
        self.where = [i for i, x in enumerate(inputs) if isinstance(x, Handle) and x._requires]
        if not self.where:
            raise ArgumentValueError(NO_INPUT)
        for i in self.where:
            if str(inputs[i].dtype) not in ("torch.float64", "torch.complex128"):
                warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. ", stacklevel=3)
        self.variables = [inputs[i] for i in self.where]
        self.random = np.random.RandomState(0)

    def outputs(self, inputs: Sequence[Any]) -> list[Any]:
        """The results that have derivatives."""
        with enable_grad():
            found = _as_tuple(self.func(*inputs))
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
        size = _parts(np.zeros(tuple(tensor.shape), tensor._payload.dtype)).size
        if not self.options.fast_mode:
            return np.eye(size)
        vector = self.random.rand(1, size) + 0.1
        return vector / max(float(np.linalg.norm(vector)), 1e-12)

    def numerical(self, number: int, directions: np.ndarray) -> list[np.ndarray]:
        """For each output, a row for each direction of input ``number``: derivatives of all its parts."""
        base = self.variables[number]
        start = _parts(np.array(base.detach().numpy()))
        rows: list[list[np.ndarray]] = []
        with no_grad():
            for direction in directions:
                ends = []
                for sign in (1.0, -1.0):
                    inputs = list(self.inputs)
                    inputs[self.where[number]] = _whole(start + sign * self.options.eps * direction, base).requires_grad_()
                    ends.append([_parts(o.detach().numpy()) for o in self.outputs(inputs)])
                rows.append([(a - b) / (2 * self.options.eps) for a, b in zip(*ends, strict=True)])
        return [np.array(r).reshape(len(directions), -1) for r in zip(*rows, strict=True)]

    def analytical(self, output: Any, cotangents: np.ndarray) -> list[np.ndarray]:
        """For each input, a row for each cotangent of ``output``: gradients of all its parts."""
        rows = [self._pull(output, _whole(c, output)) for c in cotangents]
        return [np.array(r).reshape(len(cotangents), -1) for r in zip(*rows, strict=True)]

    def _pull(self, output: Any, cotangent: Any) -> list[np.ndarray]:
        grads = grad(output, self.variables, cotangent, retain_graph=True, allow_unused=True)
        for x, g in zip(self.variables, grads, strict=True):
            if g is not None and g.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if g is not None and self.options.check_grad_dtypes and g.dtype != x.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
        return [_parts(np.zeros(tuple(x.shape), x._payload.dtype) if g is None else g.detach().numpy()) for x, g in zip(self.variables, grads, strict=True)]

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
            again = self.analytical(o, c) if recorded[k] else []
            if any(np.abs(a - b).max(initial=0) > self.options.nondet_tol for a, b in zip(again, pulled[k] or [], strict=True)):
                raise GradcheckError(NOT_REENTRANT.format(self.options.nondet_tol))

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
            rows = [[_parts(t.detach().numpy()) for t in jvp(of_one, (x.detach(),), (_whole(d, x),))[1]] for d in directions]
            for k, numerical in enumerate(self.numerical(number, directions)):
                self._compare(numerical, np.array([r[k] for r in rows]), k, number, "Jacobian computed with forward mode mismatch: ")
            if self.options.check_batched_forward_grad:
                self._batched_forward(of_one, x, directions, rows)

    def _batched_forward(self, of_one: Callable, x: Any, directions: np.ndarray, rows: list) -> None:
        from ..transforms.batching import vmap
        from ..transforms.gradients import jvp

        stacked = make(np.stack([_whole(d, x)._payload for d in directions]))
        together = vmap(lambda t: jvp(of_one, (x.detach(),), (t,))[1])(stacked)
        for k, found in enumerate(together):
            if not np.allclose([_parts(f) for f in found.detach().numpy()], [r[k] for r in rows], rtol=1e-5, atol=1e-8):
                raise GradcheckError("gradcheck failed while testing batched forward gradients")

    def _undefined(self) -> None:
        outs = [o for o in self.outputs(self.inputs) if o.requires_grad]
        zero = [make(np.zeros(tuple(o.shape), o._payload.dtype)) for o in outs]
        chosen = [(outs, zero)] + [([o], [z]) for o, z in zip(outs, zero, strict=True)]
        for roots, cotangents in chosen:
            try:
                grads = grad(roots, self.variables, cotangents, retain_graph=True, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(f"Expected backward function to handle undefined output grads. Please look at 'Notes about undefined output gradients' in gradcheck: {error}") from error
            if any(g is not None and np.any(g.detach().numpy() != 0) for g in grads):
                raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero.")

    def _batched(self, outs: list[Any]) -> None:
        for o in outs:
            if not o.requires_grad:
                continue
            cotangents = self._directions(o)
            stacked = make(np.stack([_whole(c, o)._payload for c in cotangents]))
            try:
                together = grad(o, self.variables, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True)
            except RuntimeError as error:
                raise GradcheckError(f"gradcheck or gradgradcheck failed while testing batched gradient computation: {error}") from error
            single = self.analytical(o, cotangents)
            for found, expected in zip(together, single, strict=True):
                rows = 0.0 if found is None else np.array([_parts(f) for f in found.detach().numpy()])
                if not np.allclose(rows, expected, rtol=1e-5, atol=1e-8):
                    raise GradcheckError("gradcheck or gradgradcheck failed while testing batched gradient computation.")


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of ``func``, as functions of its inputs and of cotangents ``grad_outputs`` (random if None).

    >>> import funtorch as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, x)
    True
    """
    inputs = _as_tuple(inputs)
    roots = [o for o in _as_tuple(func(*inputs)) if isinstance(o, Handle) and o.requires_grad]
    if grad_outputs is None:
        random = np.random.RandomState(1)
        cotangents = tuple(_whole(random.randn(_parts(np.zeros(tuple(o.shape), o._payload.dtype)).size), o).requires_grad_() for o in roots)
    else:
        cotangents = _as_tuple(grad_outputs)
    count = len(cotangents)
    numbers = [i for i, x in enumerate(inputs) if isinstance(x, Handle) and x._requires]

    def gradients(*args: Any) -> tuple:
        given, pulled = args[:-count], args[-count:]
        given = tuple(variable(x, True) if i in numbers else x for i, x in enumerate(given))  # at the level of a jvp too
        outs = [o for o in _as_tuple(func(*given)) if isinstance(o, Handle) and o.requires_grad]
        grads = grad(outs, [given[i] for i in numbers], pulled, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        gradients, (*inputs, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
    )  # fmt: skip
