"""Warm eager layers, forward and backward, an optimiser's step over many small tensors, and the walk of a long tape.

Beside torch's, one process each, in turns.
"""

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

from processes import beside, check
from timing import Effort, Row

LENGTH = 1000
PEERS = ("funtorch", "torch")


def rows(effort: Effort) -> Iterator[Row]:
    check("layers", PEERS)
    times = beside("layers", PEERS, effort)
    for name, _, target in SUBJECTS:
        yield Row(name, times["funtorch"][name], "torch", times["torch"][name], target)


def calls(framework: str) -> Iterator[tuple[str, Callable]]:
    for name, make, _ in SUBJECTS:
        yield name, make(importlib.import_module(framework))


def lstm(torch: ModuleType) -> Callable:
    """An LSTM over 128 steps, 32 sequences, 128 features; gradients of its weights and of its input."""
    torch.manual_seed(0)
    layer, x = torch.nn.LSTM(128, 128), torch.randn(128, 32, 128, requires_grad=True)
    return gradients(lambda: layer(x)[0].sum(), [x, *layer.parameters()])


def attention(torch: ModuleType) -> Callable:
    """Attention of 8 samples, 8 heads, 256 places, 64 features; gradients of queries, keys and values."""
    torch.manual_seed(0)
    inputs = [torch.randn(8, 8, 256, 64, requires_grad=True) for _ in range(3)]
    weight = torch.randn(8, 8, 256, 64)
    return gradients(lambda: (torch.nn.functional.scaled_dot_product_attention(*inputs) * weight).sum(), inputs)


def gradients(loss: Callable, inputs: list) -> Callable:
    """A function that gives the gradients of ``loss()``."""

    def run() -> list:
        for each in inputs:
            each.grad = None
        loss().backward()
        return [each.grad for each in inputs]

    return run


def adam(torch: ModuleType) -> Callable:
    """One step of Adam over 300 tensors of 32 to 2,048 elements, with gradients that stay."""
    torch.manual_seed(0)
    shapes = [(32,), (32, 32), (64,), (64, 32), (32, 1, 3, 3), (10, 32)] * 50
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape)
    optimizer = torch.optim.Adam(parameters, lr=1e-4)

    def run() -> list:
        optimizer.step()
        return [parameter.detach() for parameter in parameters[:2]]

    return run


def tape(torch: ModuleType) -> Callable:
    """A chain of 1,000 nodes, recorded and walked: a thousandth of it is the cost per node."""
    x = torch.ones(4, requires_grad=True)

    def run() -> list:
        x.grad, z = None, x
        for _ in range(LENGTH):
            z = z * 0.999
        z.sum().backward()
        return [x.grad]

    return run


SUBJECTS = [
    ("LSTM layer, T 128 B 32 H 128, forward + backward", lstm, 1.0),
    ("attention, B 8 H 8 T 256 d 64, forward + backward", attention, 1.0),
    ("Adam step, 300 small tensors", adam, 1.0),
    (f"tape of {LENGTH} nodes, recorded and walked", tape, None),
]
