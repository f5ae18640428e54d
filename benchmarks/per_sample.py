"""Per-sample gradients, ``vmap(grad(loss))``, of an MLP and two CNNs: eager and compiled, beside torch.func and jax.jit."""

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import jax
import numpy as np
import torch
from timing import Effort, Row, agree, measure
from workloads import DIGITS_CNN, LARGE_CNN, MLP, Workload, jax_loss

import funtorch

# Of the eager and of the compiled form's time beside torch.func's.
SUBJECTS = ((MLP, 0.8, None), (DIGITS_CNN, None, 0.6), (LARGE_CNN, None, 0.9))


def rows(effort: Effort) -> Iterator[Row]:
    for workload, eager_target, compiled_target in SUBJECTS:
        contenders = {
            "eager": per_sample_gradients(funtorch, workload),
            "compiled": per_sample_gradients(funtorch, workload, funtorch.compile),
            "torch.func": per_sample_gradients(torch, workload),
            "jax.jit": by_hand(workload),
        }
        agree("per-sample gradients", {name: [np.asarray(g) for g in run()] for name, run in contenders.items()})
        times = measure(contenders, effort)
        name = f"vmap(grad): {workload.name}"
        yield Row(f"eager {name}", times["eager"], "torch.func", times["torch.func"], eager_target)
        yield Row(f"compiled {name}", times["compiled"], "torch.func", times["torch.func"], compiled_target)
        yield Row(f"compiled {name}", times["compiled"], "jax.jit", times["jax.jit"])


def per_sample_gradients(torch: ModuleType, workload: Workload, transform: Callable = lambda function: function) -> Callable:
    """One gradient a sample for each parameter, by ``functional_call``."""
    model, batch = workload.model(torch), tuple(map(torch.from_numpy, workload.batch()))
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters, x, y):
        scores = torch.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(scores, y.unsqueeze(0))

    gradients = transform(torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0)))
    return lambda: list(gradients(parameters, *batch).values())


def by_hand(workload: Workload) -> Callable:
    """The same in JAX, jitted."""

    def loss(parameters, x, y):
        return jax_loss(workload.by_hand, parameters, x[None], y[None])

    parameters, batch = jax.tree.map(jax.numpy.array, (workload.weights(), workload.batch()))
    gradients = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))
    return partial(gradients, parameters, *batch)
