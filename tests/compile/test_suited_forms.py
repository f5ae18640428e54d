"""In compiled functions, ops that have another form for XLA: attention by blocks and the LSTM's loops, with every derivative."""

import functools

import jax
import numpy as np
import pytest
from harness import tensor

import funtorch
from funtorch import nn
from funtorch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from funtorch.ops import blocked_attention, lstm_loops


def attention(q):
    return nn.functional.scaled_dot_product_attention(q, q * 2, q.cos(), is_causal=True).sin().sum()


@functools.cache
def layer():
    funtorch.manual_seed(0)
    return nn.LSTM(3, 4).double().requires_grad_(False)


def recurrence(x):
    return layer()(x)[0].sin().sum()


SUBJECTS = {"attention": (attention, (2, 2, 4, 3)), "lstm": (recurrence, (3, 2, 3))}
FORMS = {
    "value": lambda f: f,
    "backward": lambda f: lambda x: funtorch.autograd.grad(f(x), x)[0],
    "grad": grad,
    "jvp": lambda f: lambda x: jvp(f, (x,), (x.cos(),))[1],
    "jacrev of grad": lambda f: jacrev(grad(f)),
    "hessian": hessian,
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(f)),
    "vmap of grad": lambda f: lambda x: vmap(grad(f))(funtorch.stack([x, x * 2, x.sin()])),
}


@pytest.mark.parametrize("inside", [True, False], ids=["compile outside", "compile inside"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_derivatives_are_those_of_eager_code(subject, form, inside, monkeypatch):
    monkeypatch.setattr(blocked_attention, "BLOCK", 2**7)  # one head's scores
    function, shape = SUBJECTS[subject]
    x = tensor(*range(np.prod(shape))).double().reshape(shape).sin().requires_grad_()
    expected = FORMS[form](function)(x)
    made = funtorch.compile(FORMS[form](function)) if inside else FORMS[form](funtorch.compile(function))
    for _ in range(3):
        found = made(x)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_program_has_them(subject, monkeypatch):
    monkeypatch.setattr(blocked_attention, "BLOCK", 2**7)
    met = set()
    for module, name in ((blocked_attention, "by_blocks"), (lstm_loops, "forward"), (lstm_loops, "backward")):
        before = getattr(module, name)

        def noting(*args, before=before, name=name):
            if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(args)):
                met.add(name)
            return before(*args)

        monkeypatch.setattr(module, name, noting)
    function, shape = SUBJECTS[subject]

    @funtorch.compile
    def step(x):
        loss = function(x)
        loss.backward()
        return loss.detach()

    x = tensor(*range(np.prod(shape))).double().reshape(shape).requires_grad_()
    with funtorch.set_engine("host"):  # what runs eagerly stays with NumPy
        for _ in range(3):
            step(x)
    assert met == ({"by_blocks"} if subject == "attention" else {"forward", "backward"})
