"""The aspects of an op that are derivatives: gradient, second gradient, forward derivative, gradient through in-place.

As in `aspects`: each is one program, run on both Sides. Cotangents and tangents are drawn by position and shape, so
both Sides get the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from parity import lookup
from parity.aspects import Form
from parity.candidate import Side, SkipError
from parity.convert import Array, dtype_name, tensor_on
from parity.samples import Call, result_tensors


def noise(side: Side, like: Any, seed: int) -> Any:
    """A tensor of random normals with ``like``'s shape and dtype, the same on both Sides."""
    shape, rng = tuple(like.shape), np.random.default_rng(seed)
    value = rng.standard_normal(shape)
    name = dtype_name(like.dtype)
    if name.startswith("complex"):
        value = value + 1j * rng.standard_normal(shape)
    wide = "complex128" if name.startswith("complex") else "float64"
    return tensor_on(side, Array(wide, np.asarray(value, wide))).to(side.find(name))


def _function(form: Form) -> Callable:
    """The entry's function, inside the wrapper that makes its derivative well defined (say, on Hermitian input)."""
    function = lookup.op_function(form.info, form.side)
    wrapper = lookup.counterpart(form.info.gradcheck_wrapper, form.side)
    return lambda *args, **kwargs: wrapper(function, *args, **kwargs)


def _leaves(call: Call) -> list[Any]:
    leaves = [tensor for tensor in call.tensors() if tensor.requires_grad]
    if not leaves:
        raise SkipError("no input requires grad")
    return leaves


def _differentiable(call: Call, result: Any) -> list[Any]:
    """The results that depend on a leaf, after the sample's own post-processing (which removes free signs)."""
    outs = [out for out in result_tensors(call.side, call.process(result)) if out.requires_grad]
    if not outs:
        raise SkipError("no result requires grad")
    return outs


def _gradients(call: Call, outs: list[Any], leaves: list[Any], cotangents: list[Any], keep: bool) -> list[Any]:
    grads = call.side.module.autograd.grad(outs, leaves, cotangents, allow_unused=True, create_graph=keep)
    return [call.side.module.zeros_like(x) if g is None else g for g, x in zip(grads, leaves, strict=True)]


def grad(form: Form, sample: Any) -> Any:
    """Every input's gradient, for random cotangents of every result."""
    call = form.call(sample, _function(form))
    leaves = _leaves(call)
    outs = _differentiable(call, call())
    return _gradients(call, outs, leaves, [noise(form.side, z, i) for i, z in enumerate(outs)], keep=False)


def gradgrad(form: Form, sample: Any) -> Any:
    """The gradient of (gradient . random), for every input and for the cotangents."""
    call = form.call(sample, _function(form))
    leaves = _leaves(call)
    outs = _differentiable(call, call())
    cotangents = [noise(form.side, z, i).requires_grad_(True) for i, z in enumerate(outs)]
    grads = [g for g in _gradients(call, outs, leaves, cotangents, keep=True) if g.requires_grad]
    if not grads:
        raise SkipError("the gradient is constant")
    again = [noise(form.side, g, 100 + i) for i, g in enumerate(grads)]
    return _gradients(call, grads, [*leaves, *cotangents], again, keep=False)


def inplace_grad(form: Form, sample: Any) -> Any:
    """Every input's gradient through the in-place form, which writes into a copy of the first input."""
    if not form.info.supports_inplace_autograd or sample.broadcasts_input:
        raise SkipError("not differentiable in place")
    function = form.variant(lookup.inplace_form)
    call = form.call(sample, lambda x, *args, **kwargs: function(x.clone(), *args, **kwargs))
    leaves = _leaves(call)
    outs = _differentiable(call, call())
    return _gradients(call, outs, leaves, [noise(form.side, z, i) for i, z in enumerate(outs)], keep=False)


def jvp(form: Form, sample: Any) -> Any:
    """The forward derivative along random tangents of all differentiable inputs."""
    call = form.call(sample, _function(form))
    tensors, leaves = call.tensors(), _leaves(call)
    primals = tuple(leaf.detach() for leaf in leaves)
    tangents = tuple(noise(form.side, leaf, i) for i, leaf in enumerate(leaves))
    where = {id(leaf): i for i, leaf in enumerate(leaves)}

    def flat(*values: Any) -> tuple[Any, ...]:
        inner = call.with_tensors([values[where[id(t)]] if id(t) in where else t for t in tensors])
        results = result_tensors(form.side, call.process(inner()))
        return tuple(z for z in results if z.is_floating_point() or z.is_complex())

    form.side.seed(lookup.SEED)
    if form.side.oracle:
        return _oracle_jvp(form, flat, primals, tangents)
    return form.side.find("func.jvp")(flat, primals, tangents)[1]


def _oracle_jvp(form: Form, flat: Callable, primals: tuple, tangents: tuple) -> Any:
    if form.info.supports_forward_ad:
        try:
            return torch.func.jvp(flat, primals, tangents)[1]
        except (RuntimeError, NotImplementedError):
            torch.manual_seed(lookup.SEED)
    return _jvp_by_two_gradients(flat, primals, tangents)


def _jvp_by_two_gradients(flat: Callable, primals: tuple, tangents: tuple) -> Any:
    """The gradient is linear in the cotangent u, and d(gradient . tangent)/du is the forward derivative."""
    leaves = [p.detach().requires_grad_(True) for p in primals]
    outs = flat(*leaves)
    if not all(z.requires_grad for z in outs):
        raise SkipError("a result does not require grad")
    u = [torch.zeros_like(z).requires_grad_(True) for z in outs]
    grads = torch.autograd.grad(outs, leaves, u, create_graph=True, allow_unused=True)
    pairs = [(g, t) for g, t in zip(grads, tangents, strict=True) if g is not None and g.requires_grad]
    if not pairs:
        raise SkipError("no forward derivative in PyTorch")
    found = torch.autograd.grad([g for g, _ in pairs], u, [t for _, t in pairs], allow_unused=True)
    return tuple(torch.zeros_like(z) if f is None else f for f, z in zip(found, outs, strict=True))
