"""Single eager calls, warm and without gradients, beside torch's and beside kernels alone; one process each, in turns."""

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
from processes import beside, check
from timing import Effort, Row

# name, the call on a framework's functional module and tensors, shapes of the tensors; of classes where the last is a vector
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
TARGETS = {"a + b, 32x32": 1.5}  # beside torch
# Where the 1.6 us of a warm `a + b` on 32x32 go (one core, torch 1.1), measured by taking one part away at a time:
#   0.41 np.add itself                                      0.10 a context in which NumPy does not warn, and the tuple of results
#   0.21 shapes and dtypes of both, the key                 0.09 finding the program under it
#   0.11 making the Tensor                                  0.12 finding the op for the statics (alpha) and the common dtype
#   0.08 the operator: is the other side an operand at all  0.50 reading payloads, bases and grad flags, three calls of functions
# Where an argument requires grad, 0.9 more: the node, its edges and the saved values.
KERNEL_TARGET = 1.1
CONTENDERS = ("auto", "kernel", "torch")  # two of funtorch's engines, and the peer


def rows(effort: Effort) -> Iterator[Row]:
    check("eager_ops", ("auto", "torch"))
    times = beside("eager_ops", CONTENDERS, effort)
    for name, _, _ in CALLS:
        ours = times["auto"][name]
        yield Row(f"eager: {name}", ours, "torch", times["torch"][name], TARGETS.get(name))
        yield Row(f"eager: {name}", ours, "kernel tier alone", times["kernel"][name], KERNEL_TARGET)


def calls(contender: str) -> Iterator[tuple[str, Callable]]:
    framework = importlib.import_module("torch" if contender == "torch" else "funtorch")
    if contender != "torch":
        framework.set_engine(contender)
    for name, call, shapes in CALLS:
        yield name, bound(framework, call, shapes)


def bound(framework: ModuleType, call: Callable, shapes: list[tuple[int, ...]]) -> Callable:
    """``call`` on ``framework``'s tensors: normals, and classes where the last of two has one dimension."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    if len(shapes) == 2 and len(shapes[1]) == 1:
        arrays[1] = rng.integers(0, shapes[0][1], shapes[1])
    tensors = [framework.from_numpy(array) for array in arrays]
    return lambda: [call(framework.nn.functional, *tensors)]
