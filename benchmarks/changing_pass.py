"""Two passes over data of which every item has a shape or structure of its own; prints the passes' times and losses.

``python changing_pass.py FRAMEWORK SUBJECT``. A process of its own, since a first pass happens once.
"""

import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from clock import clock

STEPS = 30


def lstm_cells(torch: ModuleType) -> Callable[[], Iterator[Any]]:
    """An LSTM cell over time, 16 sequences a batch, of 5 to 34 steps: every batch has a length of its own."""
    cell, head = torch.nn.LSTMCell(32, 64), torch.nn.Linear(64, 10)
    lengths = random.Random(0).sample(range(5, 5 + STEPS), STEPS)
    batches = [(torch.randn(length, 16, 32), torch.arange(16) % 10) for length in lengths]
    update = updating(torch, [*cell.parameters(), *head.parameters()])

    def run() -> Iterator[Any]:
        for x, y in batches:
            h, c = torch.zeros(16, 64), torch.zeros(16, 64)
            for step in x:
                h, c = cell(step, (h, c))
            yield update(torch.nn.functional.cross_entropy(head(h), y))

    return run


def trees(torch: ModuleType) -> Callable[[], Iterator[Any]]:
    """A recursive network over random binary trees of 8 to 32 leaves: z = tanh(W [left, right] + b), the root classified."""
    words, join, head = torch.nn.Embedding(100, 64), torch.nn.Linear(128, 64), torch.nn.Linear(64, 10)
    draw = random.Random(0)

    def grown(leaves: int) -> Any:
        if leaves == 1:
            return torch.tensor(draw.randrange(100))
        left = draw.randint(1, leaves - 1)
        return grown(left), grown(leaves - left)

    forest = [(grown(draw.randint(8, 32)), torch.tensor([number % 10])) for number in range(STEPS)]
    update = updating(torch, [p for part in (words, join, head) for p in part.parameters()])

    def meaning(tree: Any) -> Any:
        if not isinstance(tree, tuple):
            return words(tree)
        return torch.tanh(join(torch.cat([meaning(tree[0]), meaning(tree[1])])))

    def run() -> Iterator[Any]:
        for tree, y in forest:
            yield update(torch.nn.functional.cross_entropy(head(meaning(tree)).unsqueeze(0), y))

    return run


def growing(torch: ModuleType) -> Callable[[], Iterator[Any]]:
    """An MLP of width 64 that gets one more layer every 5 steps; each pass begins anew."""
    nn = torch.nn
    x, y = torch.randn(32, 64), torch.arange(32) % 10

    def run() -> Iterator[Any]:
        torch.manual_seed(1)
        layers, head = nn.ModuleList(), nn.Linear(64, 10)
        for step in range(STEPS):
            if step % 5 == 0:
                layers.append(nn.Linear(64, 64))
                update = updating(torch, [*layers.parameters(), *head.parameters()])
            z = x
            for layer in layers:
                z = torch.relu(layer(z))
            yield update(nn.functional.cross_entropy(head(z), y))

    return run


def updating(torch: ModuleType, parameters: list[Any]) -> Callable:
    """A function that takes a step down the gradient of a loss, and gives that."""
    optimizer = torch.optim.SGD(parameters, lr=0.1)

    def update(loss: Any) -> Any:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return update


SUBJECTS = {"LSTM cells, lengths all different": lstm_cells, "random trees": trees, "growing network": growing}


def main(framework: str, subject: str) -> None:
    torch = importlib.import_module(framework)
    torch.manual_seed(0)
    run, times, losses = SUBJECTS[subject](torch), [], []
    for _ in range(2):
        start = clock()
        losses.append([loss.item() for loss in run()])
        times.append((clock() - start) * 1e3)
    print(json.dumps({"milliseconds": times, "losses": losses[0]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
