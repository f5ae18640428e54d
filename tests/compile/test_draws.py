"""Random numbers: the same seed gives the same numbers, compiled and eager, and what comes afterwards is the same too."""

import itertools
import random

import numpy as np
from harness import Cases, Plan, batch, net, tensor

import funtorch
from funtorch import nn

cases = Cases()


@cases(10)
def uniform_and_normal():
    return Plan(lambda x: (x + funtorch.rand(2), x * funtorch.randn(2), funtorch.rand_like(x)), batch(2))


@cases(10)
def drawn_eagerly_after_each_call():
    kept = []
    return Plan(
        lambda x: x * funtorch.rand(3), batch(3), {"kept": lambda: list(kept)}, lambda i: kept.append(funtorch.rand(2).tolist())
    )


@cases(10)
def integers_and_permutations():
    return Plan(lambda x: (funtorch.randint(0, 9, (3,)) + x, x[funtorch.randperm(3)]), batch(3))


@cases(10)
def dropout():
    return Plan(lambda x: nn.functional.dropout(x, 0.4) * 2, batch(4))


@cases(6)
def dropout_in_both_modes():
    model = net(drop=0.5)
    return Plan(lambda x: model(x), batch(4, 3), {"model": model}, lambda i: model.train(i % 3 != 1))


@cases(4)
def a_probability_that_changes():
    layer = nn.Dropout(0.2)

    def between(i):
        layer.p = 0.7 if i >= 5 else 0.2

    return Plan(lambda x: layer(x), batch(6), {}, between)


@cases(10)
def a_generator_of_its_own():
    g = funtorch.Generator().manual_seed(3)
    return Plan(lambda x: x + funtorch.rand(2, generator=g), batch(2), {"state": lambda: g.get_state().tolist()})


@cases(10)
def two_generators():
    g, h = funtorch.Generator().manual_seed(3), funtorch.Generator().manual_seed(4)
    return Plan(lambda x: (funtorch.rand(2, generator=g), funtorch.randn(1, generator=h), funtorch.rand(1), x), batch(2),
                {"state": lambda: [g.get_state().tolist(), h.get_state().tolist()]})  # fmt: skip


@cases(10)
def in_place_draws():
    w = funtorch.zeros(3)
    return Plan(lambda x: (w.uniform_(-1, 1) * x, w.normal_(0, 2).sum(), x.exponential_()), batch(3), {"w": w})


@cases(10)
def bernoulli_with_a_number():
    return Plan(lambda x: x * funtorch.bernoulli(x, 0.3), batch(5))


@cases(5)
def draws_behind_a_branch():
    def step(x):
        if x.sum() > 0:
            return x + funtorch.rand(2)
        return x - funtorch.randn(3).sum()

    return Plan(step, lambda i: (tensor(1.0, -2.0 * (i % 2)),))


@cases(6)
def draws_before_a_guard_that_fails():
    def step(x):
        noise = funtorch.rand(2)
        return noise * 2 if x > 0 else noise - 1

    return Plan(step, lambda i: (tensor(1.0 if i % 6 < 4 else -1.0),))


@cases(5)
def a_decision_on_a_draw():
    return Plan(lambda x: x * 2 if funtorch.rand(()) < 0.8 else x - 1, batch(2))


@cases(10)
def reseeded_between_calls():
    return Plan(lambda x: x + funtorch.rand(2), batch(2), {}, lambda i: funtorch.manual_seed(i % 4))


@cases(eager="seeds a generator")
def reseeded_inside():
    def step(x):
        funtorch.manual_seed(5)
        return x + funtorch.rand(2)

    return Plan(step, batch(2))


@cases(eager="state of a generator")
def forked_inside():
    def step(x):
        with funtorch.random.fork_rng():
            x = x + funtorch.rand(2)
        return x + funtorch.rand(2)

    return Plan(step, batch(2))


@cases(eager="random numbers of Python or NumPy")
def drawn_by_python():
    random.seed(3)
    return Plan(lambda x: x * 2 if random.random() < 0.5 else x, batch(2))


@cases(eager="random numbers of Python or NumPy")
def drawn_by_numpy():
    np.random.seed(3)
    return Plan(lambda x: x + funtorch.from_numpy(np.random.rand(2)), batch(2))


@cases(eager="a number at .* is another at each call")
def numbers_from_somewhere_else():
    source = itertools.count()
    return Plan(lambda x: x * (next(source) * 0.5), batch(2))


@cases(10)
def gumbel_softmax_and_noise():
    return Plan(lambda x: (nn.functional.gumbel_softmax(x), x + 0.1 * funtorch.randn_like(x)), batch(4))


@cases(10)
def initialisers():
    w = funtorch.zeros(3, 4)
    return Plan(lambda: (nn.init.xavier_uniform_(w), nn.init.normal_(w, 0.0, 0.1).sum()), lambda i: (), {"w": w})


test_draws = cases.test
