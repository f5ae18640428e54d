"""Per-sample gradients of an MLP, ``vmap(grad(loss))``: eager and compiled, beside torch.func and jax.jit."""

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import jax
import numpy as np
import torch
from timing import Effort, Row, agree, measure
from workloads import MLP, jax_loss

import funtorch

EAGER_TARGET = 0.8


def rows(effort: Effort) -> Iterator[Row]:
    eager = per_sample_gradients(funtorch)
    contenders = {
        "eager": eager,
        "compiled": per_sample_gradients(funtorch, funtorch.compile),
        "torch.func": per_sample_gradients(torch),
        "jax.jit": by_hand(),
    }
    agree("per-sample gradients", {name: [np.asarray(g) for g in run()] for name, run in contenders.items()})
    times = measure(contenders, effort)
    name = f"vmap(grad): {MLP.name}"
    yield Row(f"eager {name}", times["eager"], "torch.func", times["torch.func"], EAGER_TARGET)
    yield Row(f"eager {name}", times["eager"], "jax.jit", times["jax.jit"])
    yield Row(f"compiled {name}", times["compiled"], "torch.func", times["torch.func"])
    yield Row(f"compiled {name}", times["compiled"], "jax.jit", times["jax.jit"])


def per_sample_gradients(torch: ModuleType, transform: Callable = lambda function: function) -> Callable:
    """One gradient a sample for each parameter, by ``functional_call``."""
    model, batch = MLP.model(torch), tuple(map(torch.from_numpy, MLP.batch()))
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters, x, y):
        scores = torch.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(scores, y.unsqueeze(0))

    gradients = transform(torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0)))
    return lambda: list(gradients(parameters, *batch).values())


def by_hand() -> Callable:
    """The same in JAX, jitted."""

    def loss(parameters, x, y):
        return jax_loss(MLP.by_hand, parameters, x[None], y[None])

    parameters, batch = jax.tree.map(jax.numpy.array, (MLP.weights(), MLP.batch()))
    gradients = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))
    return partial(gradients, parameters, *batch)
