"""Per-sample gradients, ``vmap(grad(loss))``, of an MLP and two CNNs: eager and compiled.

Beside torch.func and jax.jit, one process each, in turns.
"""

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import jax
from processes import beside, check
from timing import Effort, Row
from workloads import DIGITS_CNN, LARGE_CNN, MLP, Workload, jax_loss

# What may be the eager and the compiled form's time beside torch.func's.
SUBJECTS = ((MLP, 0.8, None), (DIGITS_CNN, None, 0.6), (LARGE_CNN, None, 0.9))
CONTENDERS = ("eager", "compiled", "torch.func", "jax.jit")


def rows(effort: Effort) -> Iterator[Row]:
    check("per_sample", CONTENDERS)
    times = beside("per_sample", CONTENDERS, effort)
    for workload, eager_target, compiled_target in SUBJECTS:
        eager, compiled, torch, by_hand = (times[contender][workload.name] for contender in CONTENDERS)
        name = f"vmap(grad): {workload.name}"
        yield Row(f"eager {name}", eager, "torch.func", torch, eager_target)
        yield Row(f"compiled {name}", compiled, "torch.func", torch, compiled_target)
        yield Row(f"compiled {name}", compiled, "jax.jit", by_hand)


def calls(contender: str) -> Iterator[tuple[str, Callable]]:
    for workload, _, _ in SUBJECTS:
        if contender == "jax.jit":
            yield workload.name, by_hand(workload)
        else:
            framework = importlib.import_module("torch" if contender == "torch.func" else "funtorch")
            compiling = (framework.compile,) if contender == "compiled" else ()
            yield workload.name, per_sample_gradients(framework, workload, *compiling)


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
