"""gather and scatter in all their modes, and dynamic slices, with places inside and outside of the operand."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import COMPLEX, EVERY, FLOATS, INTS, Case, array, full_shapes, seeds, tame

MODES = [lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP, lax.GatherScatterMode.PROMISE_IN_BOUNDS]


class Plan:
    """Slices of random sizes at random places of an operand of rank 1 to 4, with and without batching axes."""

    def __init__(self, draw, dtypes):
        self.dtype, self.seed = draw(st.sampled_from(dtypes)), draw(seeds)
        rank = draw(st.integers(1, 4))
        self.shape = [draw(st.integers(1, 5)) for _ in range(rank)]
        batching = draw(st.integers(0, min(1, rank - 1)))
        count = draw(st.integers(1, rank - batching))
        self.starts = draw(st.permutations(range(batching, rank)))[:count]
        self.sizes = [1 if d < batching else draw(st.integers(1, self.shape[d])) for d in range(rank)]
        self.collapsed = [d for d in range(batching, rank) if self.sizes[d] == 1 and draw(st.booleans())]
        self.batch = [*self.shape[:batching], *draw(st.lists(st.integers(0, 3), max_size=2))]
        self.window = [self.sizes[d] for d in range(batching, rank) if d not in self.collapsed]
        self.offsets = sorted(draw(st.permutations(range(len(self.batch) + len(self.window))))[: len(self.window)])
        self.batching = tuple(range(batching))
        self.mode = draw(st.sampled_from(MODES))
        self.kind = draw(st.sampled_from(["i4", "i8", "u4", "i1", "u8"]))

    def numbers(self, kind: type) -> object:
        return kind(tuple(self.offsets), tuple(self.collapsed), tuple(self.starts), self.batching, self.batching)

    def indices(self, apart: bool = False) -> np.ndarray:
        """Places, some outside unless they are promised to be inside; ``apart``: no two of them the same, where there is room."""
        rng = np.random.default_rng(self.seed)
        low, high = (0, 6) if self.kind[0] == "u" else (-2, 6)
        found = rng.integers(low, high, (*self.batch, len(self.starts)))
        if self.mode == MODES[2]:
            found = np.clip(found, 0, [self.shape[d] - self.sizes[d] for d in self.starts])
        return found.astype(self.kind)

    def operand(self) -> np.ndarray:
        return array(self.seed, self.shape, self.dtype)

    def updates(self) -> tuple[int, ...]:
        sized, rest = dict(zip(self.offsets, self.window, strict=True)), iter(self.batch)
        return tuple(sized[a] if a in sized else next(rest) for a in range(len(self.batch) + len(self.window)))


@st.composite
def gathers(draw) -> Case:
    plan = Plan(draw, EVERY)
    fill = draw(st.sampled_from([None, 1])) if plan.mode == MODES[1] else None
    numbers = plan.numbers(lax.GatherDimensionNumbers)
    return Case(
        lambda x, i: lax.gather(x, i, numbers, plan.sizes, mode=plan.mode, fill_value=fill), (plan.operand(), plan.indices()), 0
    )


@st.composite
def scatters(draw, fn: Callable, dtypes, values: Callable = tame) -> Case:
    """Places that come twice; sums of narrow floats only where no place does, since XLA rounds after each."""
    plan = Plan(draw, dtypes)
    numbers, constant = plan.numbers(lax.ScatterDimensionNumbers), draw(st.booleans())
    x, i, u = values(plan.seed, plan.shape, plan.dtype), plan.indices(), values(plan.seed + 1, plan.updates(), plan.dtype)
    if fn is lax.scatter:  # which of several updates of one place stays is not said
        u = np.broadcast_to(u.ravel()[:1].reshape((1,) * u.ndim), u.shape).copy() if u.size else u
    scale = 64.0 if values is tame and fn is not lax.scatter else None
    if constant:
        return Case(lambda x, u: fn(x, i, u, numbers, mode=plan.mode), (x, u), 8, scale, zeros=False)
    return Case(lambda x, i, u: fn(x, i, u, numbers, mode=plan.mode), (x, i, u), 8, scale, zeros=False)


@st.composite
def many_rows(draw, name: str, dtypes) -> Case:
    """So many rows at once that they are sorted first."""
    dtype, seed, width = draw(st.sampled_from(dtypes)), draw(seeds), draw(st.integers(1, 9))
    x, u = tame(seed, (7, width), dtype, 0.5, 1.5), tame(seed + 1, (90, width), dtype, 0.9, 1.1)
    rows = np.random.default_rng(seed).integers(-2, 9, 90)
    return Case(lambda x, i, u: getattr(x.at[i], name)(u), (x, rows, u), 8, 64.0, zeros=False)


@st.composite
def applied(draw) -> Case:
    """A function of the elements at each place: left to XLA."""
    x, i = tame(draw(seeds), (5, 3), "f4"), np.array([[0], [3]])
    return Case(lambda x, i: x.at[i[:, 0]].apply(jnp.sin), (x, i), falls=True)


@st.composite
def slices(draw) -> Case:
    shape, dtype, seed = draw(full_shapes), draw(st.sampled_from(EVERY)), draw(seeds)
    sizes = [draw(st.integers(0, n)) for n in shape]
    starts = [np.array(draw(st.integers(-3, 6)), draw(st.sampled_from(["i4", "i8", "i1"]))) for _ in shape]
    x, u = array(seed, shape, dtype), array(seed + 1, sizes, dtype)
    starts = [s.astype(starts[0].dtype) for s in starts]
    if draw(st.booleans()):
        return Case(lambda x, u, *s: (lax.dynamic_update_slice(x, u, s), lax.dynamic_slice(x, s, sizes)), (x, u, *starts), 0)
    fixed = tuple(int(s) for s in starts)
    return Case(lambda x, u: (lax.dynamic_update_slice(x, u, fixed), lax.dynamic_slice(x, fixed, sizes)), (x, u), 0)


NUMBERS = FLOATS + INTS + COMPLEX
CASES = {
    "gather": gathers(),
    "scatter": st.one_of(scatters(lax.scatter, EVERY, array), applied()),
    "scatter-add": st.one_of(scatters(lax.scatter_add, NUMBERS), many_rows("add", NUMBERS)),
    "scatter-sub": st.one_of(scatters(lax.scatter_sub, NUMBERS), many_rows("subtract", NUMBERS)),
    "scatter-mul": st.one_of(scatters(lax.scatter_mul, NUMBERS), many_rows("mul", NUMBERS)),
    "scatter-min": st.one_of(scatters(lax.scatter_min, FLOATS + INTS, array), many_rows("min", FLOATS + INTS)),
    "scatter-max": st.one_of(scatters(lax.scatter_max, FLOATS + INTS, array), many_rows("max", FLOATS + INTS)),
    "dynamic_slice": slices(),
    "dynamic_update_slice": slices(),
}
