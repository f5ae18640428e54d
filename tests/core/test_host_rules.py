"""Each NumPy rule of the host tier against XLA, over random shapes, dtypes and parameters: one table of strategies."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from funtorch.core import host
from funtorch.core.host_rules.elementwise import UFUNCS
from funtorch.core.host_rules.lowering import SHORTCUTS
from funtorch.core.host_rules.table import RULES

sys.path.insert(0, str(Path(__file__).resolve().parent))

from host_cases import control, elementwise, indexing, linalg, linear, random, reductions, shapes, special, windows  # noqa: E402
from host_cases.drawing import primitives, same  # noqa: E402

jax.config.update("jax_enable_x64", True)

FAMILIES = (control, elementwise, indexing, linalg, linear, random, reductions, shapes, special, windows)
CASES = {name: case for family in FAMILIES for name, case in family.CASES.items()}
# Primitives that this JAX does not have, or that its public functions never make.
OF_OTHER_VERSIONS = {"broadcast_to", "expand_dims", "custom_vjp_call_jaxpr", "core_closed_call", "checkpoint", "remat", "pjit"}
UNREACHED = {"call", "closed_call", "copy_p", "empty2", "pin", "pvary", "tie", "unpin"}
MANY = {"conv_general_dilated", "dot_general", "gather", "scatter", "scatter-add", "pad", "sort", "convert_element_type"}
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def examples(name: str) -> settings:
    """Always the same examples, and no shrinking: each costs a compilation."""
    return settings(
        max_examples=20 if name in MANY else 6,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("name", CASES)
def test_rule(name):
    @examples(name)
    @given(case=CASES[name])
    def agrees(case):
        check(name, case)

    agrees()


def check(name, case):
    closed = jax.make_jaxpr(case.fn)(*case.args)
    program = host.prepare(closed)
    assert name in {*primitives(closed), *program.steps}
    before = host.falls.copy()
    got = program(*case.args)
    assert case.falls or not host.falls - before
    want = jax.jit(case.fn).lower(*case.args).compile(compiler_options=FAST)(*case.args)
    for g, w in zip(got, jax.tree.leaves(want), strict=True):
        assert 0 not in g.strides or 0 in g.shape or g.size == 1
        same(g, np.asarray(w), case)


def test_every_rule_has_a_strategy():
    assert {*RULES, *SHORTCUTS} - set(CASES) == OF_OTHER_VERSIONS | UNREACHED
    assert set(CASES) <= {*RULES, *SHORTCUTS}


def test_a_rule_that_differs_is_noticed(monkeypatch):
    monkeypatch.setitem(UFUNCS, "sin", np.cos)
    with pytest.raises(AssertionError):
        test_rule("sin")
