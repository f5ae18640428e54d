"""Every constraint's check beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import funtorch
from funtorch.distributions import constraints

NUMBERS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf, -np.inf, np.nan])
VECTORS = np.array([[0, 1, 0], [1, 1, 0], [0.2, 0.3, 0.5], [0.5, 0.6, -0.1], [2, 1, 0], [0, 0, 0], [np.nan, 0, 1]])
ROOT = np.array([[1.0, 0, 0], [0.6, 0.8, 0], [0, 0.6, 0.8]])
MATRICES = np.stack([
    np.eye(3), ROOT, ROOT @ ROOT.T, -np.eye(3), np.ones((3, 3)), np.triu(np.ones((3, 3))), 2 * ROOT, np.diag([1.0, 0, 1])
])  # fmt: skip

ON_NUMBERS = {
    "boolean": lambda c: c.boolean,
    "nonnegative_integer": lambda c: c.nonnegative_integer,
    "positive_integer": lambda c: c.positive_integer,
    "integer_interval": lambda c: c.integer_interval(-1, 2),
    "integer_less_than": lambda c: c._IntegerLessThan(1),
    "real": lambda c: c.real,
    "positive": lambda c: c.positive,
    "nonnegative": lambda c: c.nonnegative,
    "greater_than": lambda c: c.greater_than(0.5),
    "greater_than_eq": lambda c: c.greater_than_eq(0.5),
    "less_than": lambda c: c.less_than(1.5),
    "unit_interval": lambda c: c.unit_interval,
    "interval": lambda c: c.interval(-1.0, 1.5),
    "half_open_interval": lambda c: c.half_open_interval(-1.0, 1.5),
    "dependent": lambda c: c.dependent,
}
ON_VECTORS = {
    "one_hot": lambda c: c.one_hot,
    "simplex": lambda c: c.simplex,
    "real_vector": lambda c: c.real_vector,
    "multinomial": lambda c: c.multinomial(2),
    "independent": lambda c: c.independent(c.nonnegative, 1),
    "cat": lambda c: c.cat([c.boolean, c.positive], -1, [2, 1]),
    "stack": lambda c: c.stack([c.boolean, c.positive, c.real], -1),
    "MixtureSameFamilyConstraint": lambda c: c.MixtureSameFamilyConstraint(c.simplex),
}
ON_MATRICES = {
    "lower_triangular": lambda c: c.lower_triangular,
    "lower_cholesky": lambda c: c.lower_cholesky,
    "corr_cholesky": lambda c: c.corr_cholesky,
    "square": lambda c: c.square,
    "symmetric": lambda c: c.symmetric,
    "positive_semidefinite": lambda c: c.positive_semidefinite,
    "positive_definite": lambda c: c.positive_definite,
}
CASES = [
    (n, f, v) for table, v in ((ON_NUMBERS, NUMBERS), (ON_VECTORS, VECTORS), (ON_MATRICES, MATRICES)) for n, f in table.items()
]


def test_every_constraint_is_in_a_table():
    not_regions = {"Constraint", "dependent_property", "is_dependent"}
    assert set(constraints.__all__) - not_regions <= {name for name, _, _ in CASES}


@pytest.mark.parametrize(("name", "make", "values"), CASES, ids=[name for name, _, _ in CASES])
def test_check(name: str, make: Any, values: Any, same: Any):
    def run(lib: Any) -> Any:
        constraint = make(lib.distributions.constraints)
        # Matrices one by one: where one is not symmetric, PyTorch does not look at the others' eigenvalues.
        if values is MATRICES:
            return lib.stack([constraint.check(lib.tensor(matrix)) for matrix in values])
        return constraint.check(lib.tensor(values))

    found = same(run)
    assert isinstance(found, type) or name in ("real", "square", "real_vector") or found.any() != found.all()


@pytest.mark.parametrize(("name", "make", "values"), CASES, ids=[name for name, _, _ in CASES])
def test_properties(name: str, make: Any, values: Any, same: Any):
    same(lambda lib: [repr(make(lib.distributions.constraints)).split(" object")[0].split("<")[0]])
    same(lambda lib: make(lib.distributions.constraints).event_dim)
    same(lambda lib: make(lib.distributions.constraints).is_discrete)


def test_rectangles_are_not_square(same: Any):
    for name in ("square", "symmetric", "positive_definite", "positive_semidefinite"):
        same(lambda lib, name=name: getattr(lib.distributions.constraints, name).check(lib.zeros(2, 3, 4)))


def test_dependent_properties(same: Any):
    def run(lib: Any) -> list:
        c, d = lib.distributions.constraints, lib.distributions
        known = c.dependent(is_discrete=True, event_dim=2)
        return [
            c.is_dependent(d.Uniform.support),
            c.is_dependent(c.real),
            d.Uniform.support.event_dim,
            d.Multinomial.support.is_discrete,
            known.event_dim,
            known.is_discrete,
        ]

    same(run)
    same(lambda lib: lib.distributions.Independent.support.event_dim)


def test_what_is_no_constraint():
    for make in (
        lambda: constraints.independent(3, 1),
        lambda: constraints.cat([3]),
        lambda: constraints.MixtureSameFamilyConstraint(3),
        lambda: constraints.independent(constraints.real, -1),
    ):
        with pytest.raises(ValueError, match="Constraint"):
            make()
        with pytest.raises(AssertionError):
            make()
    with pytest.raises(ValueError, match=r"value.dim\(\) >= 1 but got 0"):
        constraints.independent(constraints.real, 1).check(funtorch.tensor(1.0))
    with pytest.raises(NotImplementedError):
        constraints.Constraint().check(funtorch.tensor(1.0))
    with pytest.raises(ValueError, match="need as many lengths"):
        constraints.cat([constraints.real], lengths=[1, 2])


def test_parts_of_another_number():
    stacked = constraints.stack([constraints.real, constraints.positive])
    with pytest.raises(AssertionError, match="must have 2 entries along 0"):
        stacked.check(funtorch.zeros(3))
    with pytest.raises(AssertionError, match="dim=0 is not in a value of shape"):
        stacked.check(funtorch.tensor(1.0))


@pytest.mark.parametrize("module", ["constraints", "transforms"])
def test_addresses(module: str, same: Any):
    """Classes are where PyTorch's are, whatever files they are written in."""
    theirs = vars(getattr(torch.distributions, module))
    home = f"torch.distributions.{module}"
    names = [name for name, found in theirs.items() if isinstance(found, type) and found.__module__ == home]
    assert len(names) > 15
    same(lambda lib: [getattr(getattr(lib.distributions, module), n).__module__.replace("funtorch", "torch") for n in names])
