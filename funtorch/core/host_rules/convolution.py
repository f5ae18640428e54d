"""conv_general_dilated as one matrix product: im2col through strided windows.

Whatever the dimension numbers, the left operand becomes (G, N, C, *space), the right one (G, O, C, *window),
and the result (G, N, O, *places); G are the groups, of features or of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from .linear import arithmetic_dtype
from .shapes import padder
from .table import Equation, rule

BATCHED_FROM = 256  # places from which one product per sample is as fast as one for all


class Geometry:
    """Sizes, strides and permutations of one convolution."""

    def __init__(self, eqn: Equation):
        params, numbers = eqn.params, eqn.params["dimension_numbers"]
        lhs, rhs = (a.shape for a in eqn.inputs)
        self.lhs_order, self.rhs_order = tuple(map(int, numbers.lhs_spec)), tuple(map(int, numbers.rhs_spec))
        self.out_order = tuple(int(a) for a in np.argsort(numbers.out_spec))
        batch, features, *space = (lhs[a] for a in self.lhs_order)
        outputs, self.channels, *self.window = (rhs[a] for a in self.rhs_order)
        by_feature, by_batch = int(params["feature_group_count"]), int(params["batch_group_count"])
        self.by_batch, self.groups = by_batch > 1, max(by_feature, by_batch)
        self.batch, self.outputs = batch // by_batch, outputs // self.groups
        self.lhs_shape = (batch, features, *space)
        self.strides = tuple(map(int, params["window_strides"]))
        self.dilation = tuple(map(int, params["rhs_dilation"]))
        spread = zip(params["padding"], params["lhs_dilation"], strict=True)
        self.config = [(0, 0, 0), (0, 0, 0), *((int(a), int(b), int(n) - 1) for (a, b), n in spread)]
        self.is_padded = any(c != (0, 0, 0) for c in self.config)
        self.places = [eqn.shape[a] for a in numbers.out_spec[2:]]

    def stack_left(self, x: np.ndarray) -> np.ndarray:
        """(N', C', *space) -> (G, N, C, *space)."""
        if self.groups == 1:
            return x[None]
        if self.by_batch:
            return x.reshape(self.groups, self.batch, self.channels, *x.shape[2:])
        return x.reshape(self.batch, self.groups, self.channels, *x.shape[2:]).swapaxes(0, 1)

    def windows(self, x: np.ndarray) -> np.ndarray:
        """(G, N, C, *space) -> the view (G, N, C, *window, *places)."""
        steps = x.strides[3:]
        inner = [s * d for s, d in zip(steps, self.dilation, strict=True)]
        outer = [s * d for s, d in zip(steps, self.strides, strict=True)]
        shape = (*x.shape[:3], *self.window, *self.places)
        return np.lib.stride_tricks.as_strided(x, shape, (*x.strides[:3], *inner, *outer), writeable=False)


@rule("conv_general_dilated", dense=True)
def conv_general_dilated(eqn: Equation) -> Callable:
    geometry, inner, out = Geometry(eqn), arithmetic_dtype(eqn), np.dtype(eqn.dtype)
    if 0 in eqn.shape or 0 in eqn.inputs[0].shape or 0 in eqn.inputs[1].shape:
        zeros = np.zeros(eqn.shape, out)
        return lambda x, w: zeros
    pad = padder(geometry.lhs_shape, geometry.config, inner) if geometry.is_padded else None
    multiply, final = _product(geometry), geometry.out_order

    def run(x, w):
        x = x.transpose(geometry.lhs_order).astype(inner, copy=False)
        w = w.transpose(geometry.rhs_order).astype(inner, copy=False)
        if pad is not None:
            x = pad(x, 0)
        z = multiply(geometry.stack_left(x), w.reshape(geometry.groups, geometry.outputs, -1))
        return z.transpose(final).astype(out, copy=False)

    return run


def _product(g: Geometry) -> Callable:
    """((G, N, C, *space), (G, O, C * window)) -> (N, G * O, *places)."""
    rank, depth, count = len(g.window), g.channels * prod(g.window), prod(g.places)
    window, places = tuple(range(3, 3 + rank)), tuple(range(3 + rank, 3 + 2 * rank))
    shape = (g.batch, g.groups * g.outputs, *g.places)
    pointwise = prod(g.window) == 1 and all(s == 1 for s in g.strides)

    def per_sample(x, w):
        """Each sample by itself: the result is made in its final order."""
        columns = (
            x.reshape(g.groups, g.batch, depth, count) if pointwise else g.windows(x).reshape(g.groups, g.batch, depth, count)
        )
        return np.matmul(w[:, None], columns).swapaxes(0, 1).reshape(shape)

    def across(x, w):
        """All samples at once, the places innermost."""
        columns = g.windows(x).transpose(0, 2, *window, 1, *places).reshape(g.groups, depth, g.batch * count)
        z = np.matmul(w, columns).reshape(g.groups * g.outputs, g.batch, *g.places)
        return z.swapaxes(0, 1)

    def window_innermost(x, w):
        """For windows larger than the number of places, as in the gradient of a kernel."""
        columns = g.windows(x).transpose(0, 1, *places, 2, *window).reshape(g.groups, g.batch * count, depth)
        z = np.matmul(columns, w.swapaxes(1, 2)).reshape(g.groups, g.batch, *g.places, g.outputs)
        return z.transpose(1, 0, 2 + rank, *range(2, 2 + rank)).reshape(shape)

    if prod(g.window) > count:
        return window_innermost
    return per_sample if g.batch == 1 or count >= BATCHED_FROM else across
