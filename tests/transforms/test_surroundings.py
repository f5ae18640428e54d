"""Compiled code sees what changes in Python around it: globals, closures, attributes, dicts, lists, Modules, optimisers."""

import functools

import pytest

import funtorch
from funtorch import nn

FACTOR = 1.0
TABLE = {"k": 1.0, "t": None}
WEIGHTS = [None]


class Settings:
    factor = 1.0


class Holder:
    def __init__(self):
        self.factor = 1.0

    def scaled(self, x):
        return x * self.factor


def helper(x):
    return x * FACTOR


def set_global(value):
    globals()["FACTOR"] = value


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 1.0
        self.inner = nn.Identity()
        self.p = nn.Parameter(funtorch.ones(1))
        self.register_buffer("b", funtorch.ones(1))

    def forward(self, x):
        return self.inner(x) * self.gain * self.p * self.b


class Double(nn.Module):
    def forward(self, x):
        return x * 2


holder, module = Holder(), Scale()
PLACES = {
    "global": (lambda x: x * FACTOR, set_global),
    "global of a helper": (lambda x: helper(x) + 1, set_global),
    "class attribute": (lambda x: x * Settings.factor, lambda v: setattr(Settings, "factor", v)),
    "instance attribute": (lambda x: x * holder.factor, lambda v: setattr(holder, "factor", v)),
    "method": (holder.scaled, lambda v: setattr(holder, "factor", v)),
    "partial": (functools.partial(lambda y, x: x * y * FACTOR, 1.0), set_global),
    "dict entry": (lambda x: x * TABLE["k"], lambda v: TABLE.__setitem__("k", v)),
    "Tensor in a dict": (lambda x: x * TABLE["t"], lambda v: TABLE.__setitem__("t", funtorch.tensor(v))),
    "Tensor in a list": (lambda x: x * WEIGHTS[0], lambda v: WEIGHTS.__setitem__(0, funtorch.tensor([v]))),
    "module's attribute": (lambda x: module(x), lambda v: setattr(module, "gain", v)),
    "module's parameter": (lambda x: module(x), lambda v: setattr(module, "p", nn.Parameter(funtorch.tensor([v])))),
    "module's buffer": (lambda x: module(x), lambda v: setattr(module, "b", funtorch.tensor([v]))),
    "module's child": (lambda x: module(x), lambda v: setattr(module, "inner", Double() if v > 5 else nn.Identity())),
    "parameter read alone": (lambda x: x * module.p, lambda v: setattr(module, "p", nn.Parameter(funtorch.tensor([v])))),
}


@pytest.mark.filterwarnings("ignore:.*stays eager")
@pytest.mark.parametrize("place", PLACES)
def test_a_change_is_seen(place):
    function, change = PLACES[place]
    change(1.0)
    run, x = funtorch.compile(function), funtorch.tensor([4.0])
    for value in (1.0, 10.0, 0.5, 10.0, 3.0):
        change(value)
        for _ in range(4):  # so that there is a program before the next change
            assert run(funtorch.tensor([4.0])).tolist() == function(x).tolist()
    assert run.counts["compiled"] >= 2, funtorch.compiler.explain(run)
    change(1.0)


def test_a_closure_variable_rebound():
    factor = 1.0

    def function(x):
        return x * factor

    run = funtorch.compile(function)
    for value in (1.0, 2.0, 3.0):
        factor = value
        for _ in range(4):
            assert run(funtorch.tensor([4.0])).tolist() == [4.0 * value]


def test_python_state_that_the_function_changes_keeps_it_eager():
    calls = {"k": 0}

    def function(x):
        calls["k"] += 1
        return x * calls["k"]

    run = funtorch.compile(function)
    with pytest.warns(UserWarning, match="changes 'k'|stays eager"):
        found = [run(funtorch.tensor([1.0])).item() for _ in range(8)]
    assert found == [float(i) for i in range(1, 9)] and calls["k"] == 8


def test_options_of_an_optimiser_changed_between_steps():
    def train(compiled):
        w = funtorch.ones(2, dtype=funtorch.float64, requires_grad=True)
        optimizer = funtorch.optim.SGD([w], lr=0.1)

        def step():
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()

        run = funtorch.compile(step) if compiled else step
        for i in range(10):
            if i == 4:
                optimizer.param_groups[0].update(momentum=0.5, weight_decay=0.1)
            if i == 7:
                optimizer.param_groups[0].update(nesterov=True, lr=0.05)
            run()
        return w.tolist()

    assert train(True) == pytest.approx(train(False), rel=1e-12)
