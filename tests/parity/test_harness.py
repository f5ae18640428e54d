"""The parity harness itself: planted faults in a stand-in for the candidate must come out as what they are."""

import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing._internal.opinfo.core import SampleInput

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from parity import ops, record, report, resuming, rounding  # noqa: E402
from parity.aspects import Form  # noqa: E402
from parity.candidate import MismatchError, Side  # noqa: E402
from parity.columns import COLUMNS  # noqa: E402
from parity.compare import check_equal, check_same_form  # noqa: E402
from parity.convert import Array, Crossing, portable  # noqa: E402
from parity.pool import Pool, Row  # noqa: E402
from parity.suites import Settings  # noqa: E402
from parity.verdict import Cell  # noqa: E402

BY_NAME = {column.name: column for column in COLUMNS}
TORCH = Side("torch", torch)


class Stand(types.ModuleType):
    """torch under another name, with some names replaced or removed."""

    def __init__(self, replaced=(), removed=()):
        super().__init__("stand")
        self.replaced, self.removed = dict(replaced), frozenset(removed)

    def __getattr__(self, name):
        if name in self.removed:
            raise AttributeError(name)
        return self.replaced.get(name) or getattr(torch, name)


def stand(removed=(), **replaced):
    return Side("stand", Stand(replaced, removed))


class HalvedGradient(torch.autograd.Function):
    """sin with half of its gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() / 2


def letter(name, column, candidate):
    return ops.check(name, BY_NAME[column], candidate).letter


def test_an_honest_candidate_passes():
    names = ["add", "sin", "cat", "linalg.svd", "polygamma.polygamma_n_0", "nn.functional.dropout", "cauchy", "T"]
    cells = {(n, c): ops.check(n, BY_NAME[c], TORCH) for n in names for c in BY_NAME if c != "compile"}
    assert {pair: cell for pair, cell in cells.items() if cell.letter not in "P-"} == {}
    assert cells["sin", "inplace"].letter == cells["linalg.svd", "gradgrad"].letter == "P"


def test_a_planted_wrong_gradient_is_reported():
    candidate = stand(sin=HalvedGradient.apply)
    assert letter("sin", "forward:float64", candidate) == "P"
    cell = ops.check("sin", BY_NAME["grad:float64"], candidate)
    assert cell.letter == "F" and "differs at" in cell.reason


def test_a_wrong_value_and_a_wrong_dtype_are_reported():
    assert letter("sin", "forward:float64", stand(sin=torch.cos)) == "F"
    cell = ops.check("sin", BY_NAME["forward:float64"], stand(sin=lambda x: torch.sin(x).float()))
    assert cell.letter == "F" and "float32" in cell.reason


def test_a_missing_op_is_counted():
    assert letter("sin", "forward:float64", stand(removed=["sin"])) == "M"
    row = Row("ops", "sin", {"forward:float64": Cell("M"), "grad:float64": Cell("M"), "out": Cell("-")})
    assert report.is_absent(row) and report.missing([row], {"torch.sin": 7}) == ["  7  sin"]
    assert record.totals([row], ["forward:float64", "out"]) == {"forward:float64": (0, 1)}


def test_a_missing_name_inside_a_test_lambda_is_counted():
    assert letter("polygamma.polygamma_n_0", "forward:float64", stand(removed=["polygamma"])) == "M"


def test_an_in_place_form_that_returns_a_copy_is_reported():
    tensor = type("Tensor", (torch.Tensor,), {"sin_": lambda x: torch.Tensor.sin_(x).clone()})
    assert letter("sin", "inplace", stand(Tensor=tensor)) == "F"


def test_errors_of_another_type_or_none_are_reported():
    def lenient(*args, **kwargs):
        return torch.zeros(1)

    def other(*args, **kwargs):
        raise KeyError("no")

    assert letter("cat", "errors", TORCH) == "P"
    assert letter("cat", "errors", stand(cat=lenient)) == letter("cat", "errors", stand(cat=other)) == "F"


def test_vmap_is_held_against_a_loop():
    def vmap_that_repeats_the_first_lane(f, in_dims):
        return lambda *xs: [z[:1].expand(z.shape) for z in torch.func.vmap(f, in_dims)(*xs)]

    assert letter("sin", "vmap", TORCH) == "P"
    func = types.SimpleNamespace(vmap=vmap_that_repeats_the_first_lane)
    assert letter("sin", "vmap", stand(func=func)) == "F"


def test_ties_may_be_broken_either_way_but_indices_must_fit_the_values():
    def sorted_from_the_back(x, *args, **kwargs):
        values, indices = torch.sort(x.flip(-1), dim=-1, stable=True)
        return torch.return_types.sort((values, x.shape[-1] - 1 - indices))

    def sorted_with_any_index(x, *args, **kwargs):
        return torch.return_types.sort((torch.sort(x)[0], torch.zeros_like(x, dtype=torch.int64)))

    ties = SampleInput(torch.tensor([2.0, 1.0, 2.0, 1.0]))
    honest, faulty = (
        BY_NAME["forward:float32"].aspect(Form(ops.database()["sort"], stand(sort=f)), ties)
        for f in (sorted_from_the_back, sorted_with_any_index)
    )
    expected = portable(TORCH, BY_NAME["forward:float32"].aspect(Form(ops.database()["sort"], TORCH), ties))
    check_equal(portable(TORCH, honest), expected, "float32")
    with pytest.raises(MismatchError):
        check_equal(portable(TORCH, faulty), expected, "float32")


def test_in_bfloat16_the_candidate_must_be_as_near_to_the_truth_as_torch():
    torchs, truth = (Array("bfloat16", np.float32([v])) for v in (1.5, 1.0))
    rounding.check_nearer(Array("bfloat16", np.float32([0.75])), torchs, truth)
    with pytest.raises(MismatchError, match="further"):
        rounding.check_nearer(Array("bfloat16", np.float32([2.0])), torchs, truth)
    assert letter("sum", "forward:bfloat16", TORCH) == "P"
    assert letter("sum", "forward:bfloat16", stand(sum=lambda *args, **kwargs: torch.sum(*args, **kwargs) * 1.25)) == "F"


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "complex64", "int64", "bool"])
def test_values_survive_the_crossing(dtype):
    x = torch.tensor([[1.5, -2.0], [0.0, 3.0]]).to(getattr(torch, dtype)).t()
    y = Crossing(TORCH)(x)
    assert y.dtype == x.dtype and torch.equal(x, y) and y is not x


def test_shared_tensors_stay_shared_and_keep_requires_grad():
    x = torch.ones(2, requires_grad=True)
    a, (b,) = Crossing(TORCH)([x, (x,)])
    assert a is b and a.requires_grad


def test_comparison_sees_structure_fields_shape_and_value():
    named = portable(TORCH, torch.max(torch.tensor([[1.0, 2.0]]), 1))
    assert named.fields == ("values", "indices")
    with pytest.raises(MismatchError, match="no fields"):
        check_equal(named.values, named, "float32")
    one, two = (Array("float32", torch.full((2,), v).numpy()) for v in (1.0, 2.0))
    check_same_form(one, two)
    with pytest.raises(MismatchError, match=r"2 of 2 places: 1 at \[0\], expected 2"):
        check_equal(one, two, "float32")
    with pytest.raises(MismatchError, match="tuple of 1"):
        check_equal((one,), (one, two), "float32")


def test_a_lost_pair_is_named_and_a_gain_is_not(tmp_path):
    path = tmp_path / "recorded.json"
    record.write([Row("ops", "sin", {"a": Cell("P"), "b": Cell("F")})], ["a", "b"], path)
    assert record.regressions([Row("ops", "sin", {"a": Cell("P"), "b": Cell("P")})], path) == ([], [])
    lost = record.regressions([Row("ops", "sin", {"a": Cell("F"), "b": Cell("F")})], path)
    assert lost == ([("sin", "a")], ["a"])


def test_a_crash_costs_one_cell_and_the_run_goes_on():
    before = dict(os.environ)
    rows = []
    settings = Settings(candidate="torch", suites=("optimizers",))
    pool = Pool(settings, 1, rows.append)
    pool.workers[0].process.kill()
    pool.run([("optimizers", "SGD", ("optim.repr", "optim.steps"))])
    cells = rows[0].cells
    assert cells["optim.repr"].letter == "F" and "died" in cells["optim.repr"].reason
    assert cells["optim.steps"].letter == "P"
    assert dict(os.environ) == before


def test_a_resumed_run_takes_whole_rows_of_its_own_columns(tmp_path):
    path, tasks = tmp_path / "rows", [("ops", name, ("a", "b")) for name in ("sin", "cos", "tan")]
    assert resuming.read(path, tasks) == []
    whole = Row("ops", "sin", {"a": Cell("P"), "b": Cell("F", "wrong")}, {"a": 0.5}, {"sort": 2})
    for row in (
        Row("ops", "sin", dict.fromkeys("ab", Cell("P"))),
        whole,
        Row("ops", "cos", {"a": Cell("P")}),
        Row("modules", "tan"),
    ):
        resuming.append(path, row)
    path.write_text(path.read_text() + '{"suite": "ops", "na')
    assert resuming.read(path, tasks) == [whole]
