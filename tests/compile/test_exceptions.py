"""Exceptions: what a function raises comes through, and leaves what it leaves in eager code; good calls go on."""

import pytest
from harness import Cases, Plan, batch, parameter, tensor

import funtorch
from funtorch.core.state import state

cases = Cases()


@cases(4)
def in_mid_step_by_a_flag():
    w = funtorch.zeros(2)

    def step(x, fail):
        w.add_(x)
        if fail:
            raise KeyError("stop")
        return w * 2

    return Plan(step, lambda i: (*batch(2)(i), i % 3 == 2), {"w": w})


@cases(6)
def in_mid_step_by_a_value():
    w, opt = parameter(2), None
    opt = funtorch.optim.SGD([w], lr=0.1)

    def step(x):
        opt.zero_grad()
        loss = (w * x).sum()
        if not funtorch.isfinite(loss):
            raise ValueError("loss is not finite")
        loss.backward()
        opt.step()
        return loss

    return Plan(step, lambda i: (tensor(1.0, float("inf") if i % 6 == 4 else i),), {"w": w})


@cases(5)
def shapes_that_do_not_fit():
    return Plan(lambda x, y: x @ y, lambda i: (funtorch.ones(2, 3) * i, funtorch.ones(4 if i % 3 == 2 else 3)))


@cases(6)
def caught_inside():
    def step(x):
        try:
            return x @ funtorch.ones(5)
        except RuntimeError:
            return x * 2

    return Plan(step, batch(3))


@cases(5)
def after_a_draw():
    def step(x, fail):
        noise = funtorch.rand(2)
        if fail:
            raise ValueError("after a draw")
        return x + noise

    return Plan(step, lambda i: (*batch(2)(i), i % 3 == 2))


@cases(6)
def backward_twice():
    w = parameter(2)

    def step(x, twice):
        w.grad = None
        loss = (w * x).sin().sum()
        loss.backward()
        if twice:
            loss.backward()
        return loss.detach()

    return Plan(step, lambda i: (*batch(2)(i), i % 4 == 3), {"w": w})


@cases(8)
def backward_of_a_freed_result():
    w = parameter(2)

    def step(x):
        w.grad = None
        loss = (w * x).sin().sum()
        loss.backward()
        return loss

    def between(i):
        with pytest.raises(RuntimeError, match="second time"):
            loss = step(tensor(1.0, 2.0))
            loss.backward()

    return Plan(step, batch(2), {"w": w}, between)


def test_a_trace_that_fails_leaves_all_as_it_was(monkeypatch):
    from funtorch.transforms import tracing

    w = parameter(2)
    opt = funtorch.optim.SGD([w], lr=0.1, momentum=0.5)

    def step(x):
        opt.zero_grad()
        (w * x * funtorch.rand(2)).sum().backward()
        opt.step()

    def broken(self, *args):
        raise TypeError("broken on purpose")

    def train(run):
        funtorch.manual_seed(0)
        with funtorch.no_grad():
            w.fill_(1.0)
        opt.state.clear()
        for i in range(5):
            run(tensor(1.0, i))
        return w.tolist(), w.grad.tolist(), funtorch.rand(1).item()

    expected = train(step)
    monkeypatch.setattr(tracing.Trace, "_collect", broken)
    run = funtorch.compile(step)
    with pytest.warns(UserWarning, match="TypeError: broken on purpose"):
        assert train(run) == expected
    assert state.recorder is None and run.counts["compiled"] == 0


def test_a_program_that_fails_leaves_all_as_it_was():
    w = funtorch.zeros(2)

    def step(x):
        w.add_(x * funtorch.rand(2))
        return w * 1

    run = funtorch.compile(step)
    for i in range(3):
        run(tensor(1.0, i))
    (entry,) = run.entries.values()
    (variant,) = entry.variants
    kernel, before, rng = variant.kernel, w.tolist(), funtorch.get_rng_state().tolist()

    def broken(*values):
        raise MemoryError("broken on purpose")

    variant.kernel = broken
    with pytest.raises(MemoryError):
        run(tensor(1.0, 1.0))
    assert w.tolist() == before and funtorch.get_rng_state().tolist() == rng
    variant.kernel = kernel
    run(tensor(1.0, 1.0))
    assert w.tolist() != before


test_exceptions = cases.test
