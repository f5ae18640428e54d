"""Scripted code runs as it is, traced code is compiled, and what needs TorchScript says so."""

from __future__ import annotations

import pytest

import funtorch
from funtorch import jit, nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    @jit.ignore
    def note(self, x):
        return x

    @jit.unused
    def never(self, x):
        raise AssertionError

    @jit.export
    def double(self, x):
        return 2 * self(x)

    def forward(self, x):
        if jit.is_scripting():
            return x
        y = self.note(self.linear(x))
        return y.relu() if y.sum() > 0 else y


def test_script_gives_the_thing_itself():
    module, function = Gate(), lambda x: x + 1
    assert jit.script(module) is module
    assert jit.script(function) is function
    assert jit.script(Gate) is Gate
    assert not isinstance(jit.script(module), jit.ScriptModule)
    assert not isinstance(function, jit.ScriptFunction)

    @jit.script
    def scaled(x, by: int = 2):
        return x * by

    assert scaled(funtorch.ones(1)).item() == 2
    x = funtorch.ones(1, 2)
    assert module.double(x).tolist() == (2 * module(x)).tolist()


def test_marks_leave_functions_as_they_are():
    def function(x):
        return x

    assert jit.ignore(function) is jit.ignore()(function) is jit.ignore(drop=True)(function) is jit.unused(function) is function
    assert jit.export(function) is jit.script_if_tracing(function) is jit._overload_method(function) is function


def test_trace_compiles_and_follows_branches(capsys):
    def function(x):
        print("called")  # what it appends to a list would keep it eager
        return x * 2 if x.sum() > 0 else x - 1

    traced = jit.trace(function, funtorch.ones(2))
    assert capsys.readouterr().out == "called\n"
    for _ in range(5):
        assert traced(funtorch.ones(2)).tolist() == [2, 2]
    assert traced(-funtorch.ones(2)).tolist() == [-2, -2]
    assert "called" in capsys.readouterr().out
    assert traced(funtorch.ones(2)).tolist() == [2, 2]
    assert capsys.readouterr().out == ""
    with pytest.raises(RuntimeError):
        jit.trace(lambda x: x @ funtorch.ones(3), (funtorch.ones(2),))


def test_trace_of_modules():
    module = Gate()
    x = funtorch.ones(1, 2)
    for traced in (
        jit.trace(module, (x,)),
        jit.trace(module, example_kwarg_inputs={"x": x}),
        jit.trace_module(module, {"forward": x}),
    ):
        assert traced(x)[0].tolist() == pytest.approx(module(x)[0].tolist())
    assert jit.optimize_for_inference(module)(x).shape == (1, 2)
    assert not module.training


def test_being_traced(capsys):
    def function(x):
        print(jit.is_tracing())
        return x + 1

    compiled = funtorch.compile(function)
    for _ in range(4):
        compiled(funtorch.ones(1))
    seen = capsys.readouterr().out.split()
    assert seen[0] == "False"
    assert seen[-1] == "True"


def test_helpers():
    assert jit.annotate(list, [1]) == [1]
    assert jit.Attribute(3, int) == 3
    assert jit.isinstance([1], list[int]) and jit.isinstance(3, (str, int)) and not jit.isinstance(3, str)
    with jit.fuser("fuser1"), jit.optimized_execution(False):
        pass
    hint: jit.Final[int] = 3
    assert hint == 3


@pytest.mark.parametrize(
    "call", [lambda: jit.save(None, "x"), lambda: jit.load("x"), lambda: jit.freeze(None), jit.ScriptModule, jit.ScriptFunction]
)
def test_what_needs_torchscript_says_so(call):
    with pytest.raises(NotImplementedError, match="no TorchScript here"):
        call()
