"""A whole compiled training step, beside the same step by hand in JAX and optax, jitted and donating."""

from collections.abc import Callable, Iterator
from functools import partial

import jax
import optax
from eager_training import first_losses, step
from timing import Effort, Row, agree, measure
from workloads import DIGITS_CNN, MLP, Workload, jax_loss

import funtorch

TARGET = 1.1
OPTIMISERS = {"SGD": optax.sgd, "Adam": optax.adam}


def rows(effort: Effort) -> Iterator[Row]:
    for workload in (MLP, DIGITS_CNN):
        for optimiser in OPTIMISERS:
            name = f"compiled {optimiser} step: {workload.name}"
            contenders = {
                "funtorch": compiled(workload, optimiser),
                "JAX": by_hand(workload, optimiser),
                "eager": step(optimiser)(funtorch, workload),
            }
            agree(name, {peer: first_losses(run) for peer, run in contenders.items()})
            times = measure(contenders, effort)
            yield Row(name, times["funtorch"], "jit + optax", times["JAX"], TARGET)
            yield Row(name, times["funtorch"], "funtorch eager", times["eager"])


def compiled(workload: Workload, optimiser: str) -> Callable:
    """The step in PyTorch's style, compiled."""
    model, batch = workload.model(funtorch), tuple(map(funtorch.from_numpy, workload.batch()))
    parameters = list(model.parameters())
    optimizer = getattr(funtorch.optim, optimiser)(parameters, lr=1e-3)

    @funtorch.compile
    def train(x, y):
        optimizer.zero_grad()
        loss = funtorch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return lambda: [train(*batch), *parameters]


def by_hand(workload: Workload, optimiser: str) -> Callable:
    """The step as one would write it in JAX; parameters and the optimiser's state are donated."""
    transformation = OPTIMISERS[optimiser](1e-3)
    loss_and_grads = jax.value_and_grad(partial(jax_loss, workload.by_hand))

    @partial(jax.jit, donate_argnums=(0, 1))
    def train(parameters, state, x, y):
        loss, grads = loss_and_grads(parameters, x, y)
        updates, state = transformation.update(grads, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    parameters, batch = jax.tree.map(jax.numpy.array, (workload.weights(), workload.batch()))
    state = transformation.init(parameters)

    def run() -> list:
        nonlocal parameters, state
        parameters, state, loss = train(parameters, state, *batch)
        return [loss, *parameters]

    return run
