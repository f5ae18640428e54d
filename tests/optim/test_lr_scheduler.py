"""Every schedule beside PyTorch's, epoch by epoch, exactly; resumed, nested, with rates that are Tensors; warnings and errors."""

from __future__ import annotations

import warnings

import pytest
import torch

import funtorch

EPOCHS = 30


def optimizer_of(lib, lr=0.5, name="SGD", groups=2):
    """An optimiser whose second group has a rate of its own."""
    params = [{"params": [lib.nn.Parameter(lib.zeros(1))]} for _ in range(groups)]
    for group in params[1:]:
        group["lr"] = 0.03 if not isinstance(lr, lib.Tensor) else lib.tensor(0.03)
    options = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(lib.optim, name)(params, lr=lr, **options)


class Halving:
    """A function of the epoch that has a state."""

    def __init__(self):
        self.base = 0.5

    def __call__(self, epoch):
        return self.base**epoch


def square(x):
    return 1 / (x * x + 1)


SCHEDULES = {
    "lambda": lambda L, o: L.LambdaLR(o, lambda e: 0.95**e),
    "lambda list": lambda L, o: L.LambdaLR(o, [lambda e: 1 / (e + 1), Halving()]),
    "multiplicative": lambda L, o: L.MultiplicativeLR(o, lambda e: 0.95 + 0.01 * (e % 3)),
    "step": lambda L, o: L.StepLR(o, 4, gamma=0.3),
    "multi step": lambda L, o: L.MultiStepLR(o, [3, 7, 7, 20], gamma=0.7),
    "constant": lambda L, o: L.ConstantLR(o, factor=0.3, total_iters=6),
    "linear": lambda L, o: L.LinearLR(o, 0.2, 0.9, total_iters=11),
    "linear default": lambda L, o: L.LinearLR(o),
    "exponential": lambda L, o: L.ExponentialLR(o, 0.93),
    "polynomial": lambda L, o: L.PolynomialLR(o, total_iters=13, power=1.7),
    "cosine": lambda L, o: L.CosineAnnealingLR(o, 7, eta_min=0.001),
    "cosine long": lambda L, o: L.CosineAnnealingLR(o, 40),
    "restarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 4, T_mult=2, eta_min=0.002),
    "restarts even": lambda L, o: L.CosineAnnealingWarmRestarts(o, 5),
    "cyclic": lambda L, o: L.CyclicLR(o, 0.01, 0.2, step_size_up=4, step_size_down=6),
    "cyclic 2": lambda L, o: L.CyclicLR(o, [0.01, 0.02], [0.2, 0.3], step_size_up=3, mode="triangular2", base_momentum=0.5, max_momentum=0.8),
    "cyclic exp": lambda L, o: L.CyclicLR(o, 0.01, 0.2, step_size_up=4, mode="exp_range", gamma=0.97),
    "cyclic own": lambda L, o: L.CyclicLR(o, 0.01, 0.2, step_size_up=4, scale_fn=square, scale_mode="iterations"),
    "cyclic no momentum": lambda L, o: L.CyclicLR(o, 0.01, 0.2, step_size_up=4, cycle_momentum=False),
    "one cycle": lambda L, o: L.OneCycleLR(o, 0.3, total_steps=EPOCHS + 1),
    "one cycle line": lambda L, o: L.OneCycleLR(o, [0.3, 0.1], epochs=5, steps_per_epoch=7, anneal_strategy="linear", pct_start=0.4),
    "one cycle three": lambda L, o: L.OneCycleLR(o, 0.3, total_steps=32, three_phase=True, div_factor=10.0, base_momentum=0.7),
    "one cycle no momentum": lambda L, o: L.OneCycleLR(o, 0.3, total_steps=32, cycle_momentum=False),
    "sequential": lambda L, o: L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=5), L.ExponentialLR(o, 0.9), L.StepLR(o, 2)], [5, 15]),
    "sequential cosine": lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 3), L.CosineAnnealingLR(o, 20)], [3]),
    "sequential restarts": lambda L, o: L.SequentialLR(o, [L.LinearLR(o), L.CosineAnnealingWarmRestarts(o, 6)], [8]),
    "chained": lambda L, o: L.ChainedScheduler([L.ConstantLR(o, 0.1, 4), L.ExponentialLR(o, 0.9), L.MultiStepLR(o, [9])], optimizer=o),
}  # fmt: skip


def run(lib, make, lr=0.5, name="SGD", epochs=EPOCHS):
    """Rates and momentum of each epoch, and the schedule and optimiser at the end."""
    optimizer = optimizer_of(lib, lr, name)
    scheduler = make(lib.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(epochs):
        seen.append(look(optimizer))
        assert [float(x) for x in scheduler.get_last_lr()] == [float(g["lr"]) for g in optimizer.param_groups]
        optimizer.step()
        scheduler.step()
    return seen, scheduler, optimizer


def look(optimizer):
    return [(float(g["lr"]), g.get("momentum"), g.get("betas")) for g in optimizer.param_groups]


def plain(value):
    """A state in terms that do not depend on the library, its keys in their order."""
    if isinstance(value, dict):
        return [(str(k), plain(v)) for k, v in value.items() if k != "_scale_fn_ref"]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return float(value) if isinstance(value, (torch.Tensor, funtorch.Tensor)) else value


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_same_rates_as_pytorch_in_every_epoch(name):
    expected, theirs, _ = run(torch, SCHEDULES[name])
    seen, ours, _ = run(funtorch, SCHEDULES[name])
    assert seen == expected
    assert len({rates for epoch in seen for rates in epoch}) > 1
    assert plain(ours.state_dict()) == plain(theirs.state_dict())


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_state_of_pytorchs_resumes_here(name):
    make = SCHEDULES[name]
    expected, _, _ = run(torch, make)
    _, theirs, their_optimizer = run(torch, make, epochs=9)
    optimizer = optimizer_of(funtorch)
    scheduler = make(funtorch.optim.lr_scheduler, optimizer)
    scheduler.load_state_dict(theirs.state_dict())
    for group, saved in zip(optimizer.param_groups, their_optimizer.param_groups, strict=True):
        group.update({k: v for k, v in saved.items() if k != "params"})
    for epoch in range(9, EPOCHS):
        assert look(optimizer) == expected[epoch]
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("name", ["step", "linear", "cosine", "restarts", "cyclic", "one cycle", "sequential", "chained"])
def test_a_rate_that_is_a_tensor_stays_one_and_follows(name):
    # The numbers are those of a float rate, in single precision.
    expected, _, _ = run(torch, SCHEDULES[name], name="Adam")
    seen, scheduler, optimizer = run(funtorch, SCHEDULES[name], lr=funtorch.tensor(0.5), name="Adam")
    assert all(isinstance(g["lr"], funtorch.Tensor) for g in optimizer.param_groups)
    for mine, theirs in zip(seen, expected, strict=True):
        assert [m[0] for m in mine] == pytest.approx([t[0] for t in theirs], rel=2e-4, abs=1e-7)
        assert [m[2] for m in mine] == [t[2] for t in theirs]


def test_the_initial_rate_is_not_the_tensor_that_moves():
    rate = funtorch.tensor(0.5)
    _, scheduler, optimizer = run(funtorch, SCHEDULES["exponential"], lr=rate, epochs=3)
    assert optimizer.param_groups[0]["lr"] is rate
    assert float(rate) < 0.5 == float(optimizer.param_groups[0]["initial_lr"]) == float(scheduler.base_lrs[0])


CLOSED = ["step", "multi step", "constant", "linear", "exponential", "polynomial", "cosine", "lambda", "restarts"]


@pytest.mark.parametrize("name", CLOSED)
def test_the_closed_form_is_pytorchs(name):
    seen = {}
    for lib in (torch, funtorch):
        optimizer = optimizer_of(lib)
        scheduler = SCHEDULES[name](lib.optim.lr_scheduler, optimizer)
        seen[lib] = []
        for epoch in (3, 12, 5, 25):
            optimizer.step()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheduler.step(epoch)
            seen[lib].append(look(optimizer))
    assert seen[funtorch] == seen[torch]


def going_on(L, optimizer, name):
    make = {
        "step": lambda: L.StepLR(optimizer, 3, last_epoch=5), "cosine": lambda: L.CosineAnnealingLR(optimizer, 9, last_epoch=4),
        "linear": lambda: L.LinearLR(optimizer, total_iters=9, last_epoch=4), "exponential": lambda: L.ExponentialLR(optimizer, 0.9, last_epoch=4),
        "cyclic": lambda: L.CyclicLR(optimizer, 0.1, 0.2, 4, last_epoch=4), "one cycle": lambda: L.OneCycleLR(optimizer, 0.3, 20, last_epoch=4),
    }  # fmt: skip
    return make[name]()


@pytest.mark.parametrize("name", ["step", "cosine", "linear", "exponential", "cyclic", "one cycle"])
def test_going_on_from_a_given_epoch(name):
    seen = {}
    for lib in (torch, funtorch):
        optimizer = optimizer_of(lib)
        for group in optimizer.param_groups:
            group.update(initial_lr=0.5, max_lr=0.3, min_lr=0.01, max_momentum=0.9, base_momentum=0.8)
        scheduler = going_on(lib.optim.lr_scheduler, optimizer, name)
        seen[lib] = [look(optimizer)]
        for _ in range(6):
            optimizer.step()
            scheduler.step()
            seen[lib].append(look(optimizer))
    assert seen[funtorch] == seen[torch]


METRICS = [1.0, 0.9, 0.95, 0.96, 0.97, 0.5, 0.5, 0.5001, 0.6, 0.6, 0.6, 0.4, 0.4, 0.39999, 0.7] * 2


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1}, {"patience": 2, "factor": 0.5, "cooldown": 2}, {"mode": "max", "patience": 0, "threshold": 0.3},
        {"threshold_mode": "abs", "threshold": 0.05, "patience": 1}, {"mode": "max", "threshold_mode": "abs", "patience": 1},
        {"patience": 0, "min_lr": [0.1, 0.001]}, {"patience": 0, "min_lr": 0.02, "eps": 0.01},
    ],
)  # fmt: skip
def test_plateau(options):
    seen, states = {}, {}
    for lib in (torch, funtorch):
        optimizer = optimizer_of(lib)
        scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen[lib] = []
        for number, metric in enumerate(METRICS):
            optimizer.step()
            scheduler.step(lib.tensor(metric) if number % 2 else metric)
            seen[lib].append((look(optimizer), scheduler.num_bad_epochs, scheduler.in_cooldown, scheduler.get_last_lr()))
        states[lib] = plain(scheduler.state_dict())
    assert seen[funtorch] == seen[torch]
    assert states[funtorch] == states[torch]
    assert len({tuple(each[3]) for each in seen[funtorch]}) > 1


def test_plateau_after_a_group_was_added():
    optimizer = optimizer_of(funtorch)
    scheduler = funtorch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    optimizer.add_param_group({"params": [funtorch.zeros(1, requires_grad=True)], "lr": 1.0})
    scheduler.step(1.0)
    scheduler.step(1.0)
    assert [g["lr"] for g in optimizer.param_groups] == pytest.approx([0.05, 0.003, 0.1])
    scheduler = funtorch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0, 0, 0])
    optimizer.add_param_group({"params": [funtorch.zeros(1, requires_grad=True)]})
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match=r"\(4\) differs .* \(3\)"):
        scheduler.step(1.0)


# Composed schedules in composed ones: here PyTorch goes wrong (issues 196243, 185872, 132745), so the numbers are from the definition.


def rates(make, epochs):
    optimizer = optimizer_of(funtorch, lr=1.0, groups=1)
    scheduler = make(funtorch.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(epochs):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return seen


def inner(L, o):
    return L.SequentialLR(o, [L.ConstantLR(o, 0.5, 2), L.ConstantLR(o, 0.25, 10)], [2])


NESTED = {
    "once": (lambda L, o: L.SequentialLR(o, [inner(L, o)], []), [0.5, 0.5, 0.25, 0.25]),
    "twice": (lambda L, o: L.SequentialLR(o, [L.SequentialLR(o, [inner(L, o)], [])], []), [0.5, 0.5, 0.25, 0.25]),
    "later": (lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 9), inner(L, o)], [1]), [0.1, 0.5, 0.5, 0.25]),
    "chain later": (
        lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 9), L.ChainedScheduler([L.ConstantLR(o, 0.5, 9), L.ExponentialLR(o, 0.5)])], [2]),
        [0.1, 0.1, 0.5, 0.25],
    ),
    "no warm-up": (lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 5), L.ExponentialLR(o, 0.5)], [0]), [1.0, 0.5, 0.25, 0.125]),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_composed_in_composed(name):
    make, expected = NESTED[name]
    assert rates(make, 4) == pytest.approx(expected, rel=1e-12)


def test_composed_schedules_resume():
    make = NESTED["later"][0]
    optimizer = optimizer_of(funtorch, lr=1.0, groups=1)
    scheduler = make(funtorch.optim.lr_scheduler, optimizer)
    optimizer.step()
    scheduler.step()
    other = optimizer_of(funtorch, lr=1.0, groups=1)
    resumed = make(funtorch.optim.lr_scheduler, other)
    resumed.load_state_dict(scheduler.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for expected in (0.5, 0.5, 0.25):
        assert other.param_groups[0]["lr"] == pytest.approx(expected)
        other.step()
        resumed.step()


def test_a_function_with_a_state_is_saved_and_a_plain_one_is_not():
    _, scheduler, _ = run(funtorch, SCHEDULES["lambda list"], epochs=1)
    saved = scheduler.state_dict()
    assert saved["lr_lambdas"] == [None, {"base": 0.5}]
    saved["lr_lambdas"][1]["base"] = 0.25
    scheduler.load_state_dict(saved)
    assert scheduler.lr_lambdas[1].base == 0.25
    assert scheduler.lr_lambdas[0](1) == 0.5


# Warnings


def test_a_schedule_that_is_asked_first_warns():
    scheduler = funtorch.optim.lr_scheduler.StepLR(optimizer_of(funtorch), 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    scheduler.step()  # once is enough


def test_an_optimizer_of_ones_own_counts_as_called():
    class Own(funtorch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.1})

        def step(self, closure=None):
            return None

    optimizer = Own([funtorch.zeros(1, requires_grad=True)])
    scheduler = funtorch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.05]


def test_other_warnings():
    optimizer = optimizer_of(funtorch)
    scheduler = funtorch.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(3)
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()


def test_a_schedule_of_ones_own():
    class Own(funtorch.optim.lr_scheduler._LRScheduler):
        def __init__(self, optimizer, last_epoch=-1):
            self.scale = 3
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            return [base / (1 + self.scale * self.last_epoch) for base in self.base_lrs]

    optimizer = optimizer_of(funtorch)
    scheduler = Own(optimizer)
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.125, 0.0075]
    assert "optimizer" not in scheduler.state_dict()


ERRORS = {
    "no optimizer": (lambda L, o: L.StepLR(3, 1), TypeError, "int is not an Optimizer"),
    "going on from nothing": (lambda L, o: L.StepLR(o, 1, last_epoch=3), KeyError, r"param_groups\[0\]"),
    "lambdas": (lambda L, o: L.LambdaLR(o, [abs]), ValueError, "Expected 2 lr_lambdas, but got 1"),
    "no function": (lambda L, o: L.MultiplicativeLR(o, [abs, 3]), TypeError, "should be a function, but got int"),
    "constant": (lambda L, o: L.ConstantLR(o, 1.5), ValueError, "1.5"),
    "linear start": (lambda L, o: L.LinearLR(o, 0.0), ValueError, "Starting"),
    "linear end": (lambda L, o: L.LinearLR(o, 0.5, 1.5), ValueError, "Ending"),
    "restarts T_0": (lambda L, o: L.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0, but got 0"),
    "restarts T_mult": (lambda L, o: L.CosineAnnealingWarmRestarts(o, 2, 1.5), ValueError, "T_mult >= 1, but got 1.5"),
    "cyclic mode": (lambda L, o: L.CyclicLR(o, 0.1, 0.2, mode="square"), ValueError, "mode is invalid"),
    "cyclic lists": (lambda L, o: L.CyclicLR(o, [0.1], 0.2), ValueError, "base_lr has 1 values, param_groups has 2"),
    "one cycle steps": (lambda L, o: L.OneCycleLR(o, 0.1), ValueError, "total_steps OR"),
    "one cycle zero": (lambda L, o: L.OneCycleLR(o, 0.1, 0), ValueError, "positive integer total_steps, but got 0"),
    "one cycle epochs": (lambda L, o: L.OneCycleLR(o, 0.1, epochs=2.5, steps_per_epoch=2), ValueError, "positive integer epochs, but got 2.5"),
    "one cycle part": (lambda L, o: L.OneCycleLR(o, 0.1, 5, pct_start=2.0), ValueError, "pct_start, but got 2.0"),
    "one cycle strategy": (lambda L, o: L.OneCycleLR(o, 0.1, 5, anneal_strategy="step"), ValueError, "instead got step"),
    "sequential empty": (lambda L, o: L.SequentialLR(o, [], []), ValueError, "at least one"),
    "sequential milestones": (lambda L, o: L.SequentialLR(o, [L.StepLR(o, 1)], [1]), ValueError, "schedulers 1 and .* equal to 1"),
    "sequential plateau": (lambda L, o: L.SequentialLR(o, [L.ReduceLROnPlateau(o)], []), ValueError, "at index 0"),
    "chained empty": (lambda L, o: L.ChainedScheduler([]), ValueError, "at least one"),
    "chained other": (lambda L, o: L.ChainedScheduler([L.StepLR(o, 1), L.StepLR(funtorch.optim.SGD(o.param_groups[0]["params"]), 1)]), ValueError, "same optimizer"),
    "chained no scheduler": (lambda L, o: L.ChainedScheduler([L.StepLR(o, 1), 3]), TypeError, "at index 1"),
    "plateau factor": (lambda L, o: L.ReduceLROnPlateau(o, factor=1.0), ValueError, "got 1.0"),
    "plateau mode": (lambda L, o: L.ReduceLROnPlateau(o, mode="up"), ValueError, "mode up is unknown"),
    "plateau threshold": (lambda L, o: L.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "threshold mode x"),
    "plateau rates": (lambda L, o: L.ReduceLROnPlateau(o, min_lr=[1]), ValueError, "expected 2 min_lrs, got 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    make, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        make(funtorch.optim.lr_scheduler, optimizer_of(funtorch))


def test_momentum_needs_an_optimizer_that_has_some():
    class Bare(funtorch.optim.Optimizer):
        pass

    optimizer = Bare([funtorch.zeros(1, requires_grad=True)], {"lr": 0.1})
    for make in (lambda L: L.CyclicLR(optimizer, 0.1, 0.2), lambda L: L.OneCycleLR(optimizer, 0.1, 5)):
        with pytest.raises(ValueError, match="must support momentum"):
            make(funtorch.optim.lr_scheduler)
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_one_cycle_ends():
    _, scheduler, optimizer = run(funtorch, lambda L, o: L.OneCycleLR(o, 0.3, total_steps=3), epochs=3)
    with pytest.raises(ValueError, match="Tried to step 4 times. .* is 3"):
        scheduler.step()
