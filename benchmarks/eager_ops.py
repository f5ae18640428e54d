"""Single eager calls, without gradients, beside torch's."""

from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import torch
from timing import Effort, Row, agree, measure

import funtorch

# name, the call on a framework's functional module and tensors, shapes of the tensors
CALLS: list[tuple[str, Callable, list[tuple[int, ...]]]] = [
    ("a + b, 32x32", lambda F, a, b: a + b, [(32, 32), (32, 32)]),
    ("a + b, 1024x1024", lambda F, a, b: a + b, [(1024, 1024), (1024, 1024)]),
    ("softmax, 128x1000", lambda F, x: F.softmax(x, dim=-1), [(128, 1000)]),
    ("linear, 32x128 by 128", lambda F, x, w, b: F.linear(x, w, b), [(32, 128), (128, 128), (128,)]),
    (
        "conv2d 3x3, 8x16x32x32 to 32",
        lambda F, x, w: F.conv2d(x, w, padding=1),
        [(8, 16, 32, 32), (32, 16, 3, 3)],
    ),
    ("layer_norm, 64x256", lambda F, x, w, b: F.layer_norm(x, (256,), w, b), [(64, 256), (256,), (256,)]),
    (
        "cross_entropy, 128x100",
        lambda F, x: F.cross_entropy(x, x[:, :1].squeeze(1).long().abs()),
        [(128, 100)],
    ),
]


def rows(effort: Effort) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    for name, call, shapes in CALLS:
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        contenders = {peer.__name__: bind(peer, call, arrays) for peer in (funtorch, torch)}
        agree(name, {peer: [np.asarray(run())] for peer, run in contenders.items()})
        times = measure(contenders, effort)
        yield Row(f"eager: {name}", times["funtorch"], "torch", times["torch"])


def bind(framework: ModuleType, call: Callable, arrays: list[np.ndarray]) -> Callable:
    """``call`` on ``framework``'s tensors of ``arrays``."""
    tensors, functional = [framework.from_numpy(array) for array in arrays], framework.nn.functional
    return lambda: call(functional, *tensors)
