"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts, decorators, with generators and exceptions."""

import threading
import warnings

import pytest
from same import caught, check

import funtorch

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


@program
def contexts(m):
    x, found = m.ones(1, requires_grad=True), [m.is_grad_enabled()]
    with m.no_grad():
        found += [m.is_grad_enabled(), (x * 2).requires_grad]
        with m.enable_grad():
            found += [m.is_grad_enabled(), (x * 2).requires_grad]
        with m.set_grad_enabled(True):
            found.append(m.is_grad_enabled())
        found.append(m.is_grad_enabled())
    m.set_grad_enabled(False)
    found.append(m.is_grad_enabled())
    m.set_grad_enabled(True)
    return [*found, m.is_grad_enabled()]


@program
def decorators(m):
    @m.no_grad()
    def a(x):
        return (x * 2).requires_grad

    @m.no_grad
    def b(x):
        return (x * 2).requires_grad

    @m.inference_mode()
    def c(x):
        return (x * 2).is_inference()

    @m.set_grad_enabled(False)
    def d(x):
        return (x * 2).requires_grad

    x = m.ones(1, requires_grad=True)
    with m.no_grad():
        e = m.enable_grad()(lambda x: (x * 2).requires_grad)(x)
    return a(x), b(x), c(x), d(x), e, m.is_grad_enabled(), a.__name__


@program
def after_an_exception(m):
    def fail():
        with m.no_grad():
            raise ValueError("no")

    return caught(fail), m.is_grad_enabled(), caught(m.no_grad()(fail)), m.is_grad_enabled()


@program
def generators(m):
    @m.no_grad()
    def steps(x):
        sent = yield (x * 2).requires_grad
        try:
            yield sent, m.is_grad_enabled()
        except KeyError:
            yield "caught", m.is_grad_enabled()
        return "end"

    x = m.ones(1, requires_grad=True)
    g = steps(x)
    found = [next(g), m.is_grad_enabled(), g.send(3), m.is_grad_enabled(), g.throw(KeyError("k")), m.is_grad_enabled()]
    try:
        next(g)
    except StopIteration as stop:
        found.append(stop.value)
    g = steps(x)
    next(g)
    g.close()
    return [*found, m.is_grad_enabled()]


@program
def inference(m):
    w = m.ones(2, dtype=m.float64, requires_grad=True)
    with m.inference_mode():
        t = m.ones(2, dtype=m.float64) * 3
        inside = (
            t.is_inference(),
            (w * 2).requires_grad,
            m.is_inference_mode_enabled(),
            m.is_grad_enabled(),
            t.view(2).is_inference(),
        )
        t.add_(1)
        with m.inference_mode(False):
            normal = m.ones(2).is_inference()
    again = t.clone()
    return (
        inside, normal, again, t.is_inference(), t[0].is_inference(), (t + 1).is_inference(), w.is_inference(),
        caught(lambda: w * t), caught(lambda: t.add_(1), 0), caught(lambda: t.requires_grad_(), 5),
        (w + again).requires_grad, m.autograd.grad((w * again.clone()).sum(), w), m.is_inference_mode_enabled(),
    )  # fmt: skip


@program
def backward_inside_no_grad(m):
    x = m.tensor(2.0, dtype=m.float64, requires_grad=True)
    y = x**3
    with m.no_grad():
        y.backward()
        z = x * 2
    return x.grad, x.grad.requires_grad, caught(z.backward, 6)


@program
def anomaly(m):
    x = m.tensor([0.0, 1.0], requires_grad=True)
    found = [m.is_anomaly_enabled()]
    with m.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the traceback of the forward call
        found.append((m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()))
        y = (x.sqrt() * 0.0).sum()
        found.append(caught(y.backward, 5))
    with m.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0.0).sum().backward()
        found.append(x.grad)
    m.autograd.set_detect_anomaly(True)
    m.autograd.set_detect_anomaly(False)
    return [*found, m.is_anomaly_enabled()]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


def test_anomaly_shows_the_forward_call():
    x = funtorch.zeros(1, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), funtorch.autograd.detect_anomaly():
        y = (x.sqrt() * 0.0).sum()
        with pytest.warns(UserWarning, match="test_modes.py"), pytest.raises(RuntimeError, match="SqrtBackward0"):
            y.backward()


def test_modes_are_of_a_thread():
    found = []
    with funtorch.no_grad(), funtorch.inference_mode():
        thread = threading.Thread(target=lambda: found.append((funtorch.is_grad_enabled(), funtorch.ones(1).is_inference())))
        thread.start()
        thread.join()
    assert found == [(True, False)]
