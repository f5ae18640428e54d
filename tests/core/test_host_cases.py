"""Each NumPy rule of the host tier against XLA, over random shapes, dtypes and parameters: one table of strategies."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from funtorch.core import host

sys.path.insert(0, str(Path(__file__).resolve().parent))

from host_cases import control, elementwise, indexing, linalg, linear, random, reductions, shapes, special, windows  # noqa: E402
from host_cases.drawing import primitives, same  # noqa: E402

jax.config.update("jax_enable_x64", True)

FAMILIES = (control, elementwise, indexing, linalg, linear, random, reductions, shapes, special, windows)
CASES = {name: case for family in FAMILIES for name, case in family.CASES.items()}
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
# Always the same examples, and no shrinking: each costs a compilation.
EXAMPLES = settings(
    max_examples=int(__import__("os").environ.get("EXAMPLES","10")),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.mark.parametrize("name", CASES)
@EXAMPLES
@given(data=st.data())
def test_rule(name, data):
    case = data.draw(CASES[name])
    closed = jax.make_jaxpr(case.fn)(*case.args)
    assert name in set(primitives(closed))
    before = host.falls.copy()
    got = host.prepare(closed)(*case.args)
    assert case.falls or not host.falls - before
    want = jax.jit(case.fn).lower(*case.args).compile(compiler_options=FAST)(*case.args)
    for g, w in zip(got, jax.tree.leaves(want), strict=True):
        assert 0 not in g.strides or 0 in g.shape or g.size == 1
        same(g, np.asarray(w), case)
