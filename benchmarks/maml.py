"""Second-order MAML, eager and compiled, beside torch.func and jax.jit.

25 sinusoid tasks of 10 shots, an MLP 1-40-40-1, the gradient through 1 and through 5 inner steps.

Finn, Abbeel and Levine, "Model-Agnostic Meta-Learning for Fast Adaptation of Deep Networks", 2017.
"""

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import torch
from timing import Effort, Row, agree, measure

import funtorch

TASKS, SHOTS, INNER_RATE = 25, 10, 0.01
SIZES = [(40, 1), (40,), (40, 40), (40,), (1, 40), (1,)]
COMPILED_TARGET = 0.25


def rows(effort: Effort) -> Iterator[Row]:
    for steps in (1, 5):
        contenders = {
            "eager": meta_gradient(funtorch, steps),
            "compiled": meta_gradient(funtorch, steps, funtorch.compile),
            "torch.func": meta_gradient(torch, steps),
            "jax.jit": by_hand(steps),
        }
        agree("MAML", {name: [np.asarray(g) for g in run()] for name, run in contenders.items()})
        times = measure(contenders, effort)
        name = f"MAML, {steps} inner step{'s' * (steps > 1)}"
        yield Row(f"eager {name}", times["eager"], "torch.func", times["torch.func"])
        yield Row(f"eager {name}", times["eager"], "jax.jit", times["jax.jit"])
        yield Row(f"compiled {name}", times["compiled"], "torch.func", times["torch.func"], COMPILED_TARGET)
        yield Row(f"compiled {name}", times["compiled"], "jax.jit", times["jax.jit"])


def weights() -> list[np.ndarray]:
    """Starting weights and biases of the three layers."""
    rng = np.random.default_rng(0)
    return [(rng.normal(size=size) / size[-1] ** 0.5).astype(np.float32) for size in SIZES]


def tasks() -> tuple[np.ndarray, ...]:
    """Inputs and targets to learn from, then those to be judged by; each (TASKS, SHOTS, 1), float32."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-5, 5, (TASKS, 2 * SHOTS, 1))
    y = rng.uniform(0.1, 5, (TASKS, 1, 1)) * np.sin(x + rng.uniform(0, np.pi, (TASKS, 1, 1)))
    parts = x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]
    return tuple(part.astype(np.float32) for part in parts)


def meta_gradient(torch: ModuleType, steps: int, transform: Callable = lambda function: function) -> Callable[[], list]:
    """The gradient, through ``steps`` inner steps, of the mean loss over tasks."""
    F, func = torch.nn.functional, torch.func

    def loss(parameters, x, y):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = F.relu(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2))
        return F.mse_loss(F.linear(hidden, w3, b3), y)

    def adapted_loss(parameters, x, y, x_judge, y_judge):
        for _ in range(steps):
            grads = func.grad(loss)(parameters, x, y)
            parameters = [p - INNER_RATE * g for p, g in zip(parameters, grads, strict=True)]
        return loss(parameters, x_judge, y_judge)

    def mean_loss(parameters, *batch):
        return func.vmap(adapted_loss, in_dims=(None, 0, 0, 0, 0))(parameters, *batch).mean()

    gradient = transform(func.grad(mean_loss))
    parameters, batch = [torch.from_numpy(w) for w in weights()], [torch.from_numpy(part) for part in tasks()]
    return partial(gradient, parameters, *batch)


def by_hand(steps: int) -> Callable[[], list]:
    """The same in JAX, jitted."""

    def loss(p, x, y):
        hidden = jax.nn.relu(jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3])
        return jnp.mean((hidden @ p[4].T + p[5] - y) ** 2)

    def adapted_loss(parameters, x, y, x_judge, y_judge):
        for _ in range(steps):
            grads = jax.grad(loss)(parameters, x, y)
            parameters = jax.tree.map(lambda p, g: p - INNER_RATE * g, parameters, grads)
        return loss(parameters, x_judge, y_judge)

    def mean_loss(parameters, *batch):
        return jnp.mean(jax.vmap(adapted_loss, in_axes=(None, 0, 0, 0, 0))(parameters, *batch))

    parameters, batch = jax.tree.map(jnp.array, (weights(), tasks()))
    return partial(jax.jit(jax.grad(mean_loss)), parameters, *batch)
