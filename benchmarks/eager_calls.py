"""Times single eager calls, warm, in a process of its own; prints the median milliseconds of each.

``python eager_calls.py FRAMEWORK [ENGINE]``: a mode of `funtorch.set_engine`.
"""

import importlib
import json
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np
from timing import Effort, measure

# name, the call on a framework's functional module and tensors, shapes of the tensors
CALLS: list[tuple[str, Callable, list[tuple[int, ...]]]] = [
    ("a + b, 32x32", lambda F, a, b: a + b, [(32, 32), (32, 32)]),
    ("a + b, 1024x1024", lambda F, a, b: a + b, [(1024, 1024), (1024, 1024)]),
    ("softmax, 32x10", lambda F, x: F.softmax(x, dim=-1), [(32, 10)]),
    ("softmax, 128x1000", lambda F, x: F.softmax(x, dim=-1), [(128, 1000)]),
    ("linear, 32x128 by 128", lambda F, x, w, b: F.linear(x, w, b), [(32, 128), (128, 128), (128,)]),
    ("linear, 512x1024 by 1024", lambda F, x, w, b: F.linear(x, w, b), [(512, 1024), (1024, 1024), (1024,)]),
    ("conv2d 3x3, 2x3x8x8 to 8", lambda F, x, w: F.conv2d(x, w, padding=1), [(2, 3, 8, 8), (8, 3, 3, 3)]),
    ("conv2d 3x3, 8x16x32x32 to 32", lambda F, x, w: F.conv2d(x, w, padding=1), [(8, 16, 32, 32), (32, 16, 3, 3)]),
    ("layer_norm, 16x64", lambda F, x, w, b: F.layer_norm(x, (64,), w, b), [(16, 64), (64,), (64,)]),
    ("layer_norm, 1024x512", lambda F, x, w, b: F.layer_norm(x, (512,), w, b), [(1024, 512), (512,), (512,)]),
    ("cross_entropy, 32x10", lambda F, x, y: F.cross_entropy(x, y), [(32, 10), (32,)]),
    ("cross_entropy, 1024x1000", lambda F, x, y: F.cross_entropy(x, y), [(1024, 1000), (1024,)]),
]
EFFORT = Effort(warm_up=0.15, turn=0.01, rounds=9, limit=0.5)
WARM_UP_CALLS = 150  # after so many the engine has settled


def main(name: str, engine: str = "auto") -> None:
    framework, found = importlib.import_module(name), []
    if name == "funtorch":
        framework.set_engine(engine)
    rng = np.random.default_rng(0)
    for _, call, shapes in CALLS:
        run = bound(framework, call, shapes, rng)
        for _ in range(WARM_UP_CALLS):
            run()
        found.append(measure({"it": run}, EFFORT)["it"])
    print(json.dumps(found))


def bound(framework: ModuleType, call: Callable, shapes: list[tuple[int, ...]], rng: np.random.Generator) -> Callable:
    """``call`` on ``framework``'s tensors of normals; of classes where a shape has one dimension and belongs to a batch."""
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    if len(shapes) == 2 and len(shapes[1]) == 1:
        arrays[1] = rng.integers(0, shapes[0][1], shapes[1])
    tensors = [framework.from_numpy(array) for array in arrays]
    return lambda: call(framework.nn.functional, *tensors)


if __name__ == "__main__":
    main(*sys.argv[1:])
