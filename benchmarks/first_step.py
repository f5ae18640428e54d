"""One training step in a process of its own; prints the moment at which it ended, and its loss.

``python first_step.py FRAMEWORK NETWORK``; nothing but the framework is imported, since `startup` times the whole process.
"""

import importlib
import json
import sys

from clock import since_start
from networks import FIRST_STEPS


def main(framework: str, name: str) -> None:
    torch = importlib.import_module(framework)
    torch.manual_seed(0)
    build, shape = FIRST_STEPS[name]
    model = build(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(shape), torch.arange(shape[0]) % 10
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(json.dumps([since_start(), loss.item()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
