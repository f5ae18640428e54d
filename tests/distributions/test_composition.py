"""Distributions under vmap, grad, jvp, jacobians, backward, compile, and pickled; what is kept and what is not."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest

import funtorch
from funtorch import distributions as d
from funtorch.func import grad, hessian, jvp, vmap

LOC = funtorch.tensor([0.5, -1.0, 2.0], dtype=funtorch.float64)
SCALE = funtorch.tensor([0.5, 1.0, 3.0], dtype=funtorch.float64)
X = funtorch.tensor([0.2, 0.4, 0.9], dtype=funtorch.float64)
ROOTS = funtorch.stack([funtorch.eye(2, dtype=funtorch.float64) * s for s in (0.5, 1.0, 3.0)])

# Of one location, one positive parameter and one value in (0, 1).
LOG_PROBS = {
    "Normal": lambda m, s, x: d.Normal(m, s).log_prob(x),
    "Beta": lambda m, s, x: d.Beta(s, s + 1).log_prob(x),
    "Gamma": lambda m, s, x: d.Gamma(s, 2.0).log_prob(x),
    "Categorical": lambda m, s, x: d.Categorical(logits=funtorch.stack([m, s])).log_prob(funtorch.tensor(1)),
    "MultivariateNormal": lambda m, s, x: d.MultivariateNormal(
        funtorch.stack([m, s]), scale_tril=funtorch.diag_embed(funtorch.stack([s, s]))
    ).log_prob(funtorch.stack([x, x])),
    "Gumbel": lambda m, s, x: d.Gumbel(m, s).log_prob(x),
    "LogNormal": lambda m, s, x: d.LogNormal(m, s).log_prob(x),
    "StudentT": lambda m, s, x: d.StudentT(s, m).log_prob(x),
    "kl": lambda m, s, x: d.kl_divergence(d.Normal(m, s), d.Normal(x, 1.0)),
    "kl of gammas": lambda m, s, x: d.kl_divergence(d.Gamma(s, x), d.Exponential(s)),
    "entropy": lambda m, s, x: d.Exponential(s).entropy() + d.ExponentialFamily.entropy(d.Normal(m, s)),
}


@pytest.mark.parametrize("name", LOG_PROBS)
def test_vmap_and_gradients_agree_with_a_loop(name: str):
    f = LOG_PROBS[name]
    loop = [f(*row) for row in zip(LOC, SCALE, X, strict=True)]
    np.testing.assert_allclose(vmap(f)(LOC, SCALE, X).numpy(), funtorch.stack(loop).numpy(), rtol=1e-12)
    leaves = [t.clone().requires_grad_() for t in (LOC, SCALE, X)]
    total = funtorch.stack([f(*row) for row in zip(*leaves, strict=True)]).sum()
    expected = funtorch.autograd.grad(total, leaves, allow_unused=True)
    found = vmap(grad(f, argnums=(0, 1, 2)))(LOC, SCALE, X)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), 0 * a.numpy() if b is None else b.numpy(), rtol=1e-9, atol=1e-12)
    _, along = jvp(f, (LOC[0], SCALE[0], X[0]), (LOC[0] * 0, SCALE[0] * 0 + 1, X[0] * 0))
    np.testing.assert_allclose(float(along), float(found[1][0]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOG_PROBS)
def test_compiled_equals_eager(name: str):
    f = LOG_PROBS[name]
    compiled = funtorch.compile(lambda m, s, x: f(m, s, x) * 2, fullgraph=True)
    for shift in (0.0, 0.1, 0.2, 0.3):
        arguments = (LOC[0] + shift, SCALE[0] + shift, X[0])
        np.testing.assert_allclose(float(compiled(*arguments)), 2 * float(f(*arguments)), rtol=1e-10)


def test_hessian_of_a_density():
    found = hessian(lambda m: d.Normal(m, 2.0).log_prob(funtorch.tensor(0.3)))(funtorch.tensor(0.1))
    assert float(found) == pytest.approx(-0.25)


def test_an_invalid_lane_is_found():
    with pytest.raises(ValueError, match="Expected parameter scale"):
        vmap(lambda s: d.Normal(0.0, s).log_prob(funtorch.tensor(0.0)))(funtorch.tensor([1.0, -1.0]))


def test_lanes_draw_their_own_numbers():
    def draw(rate: Any) -> Any:
        return (
            d.Normal(rate, 1.0).sample(),
            d.Gamma(2.0, rate).sample(),
            d.Bernoulli(0.5).sample((8,)),
            d.Poisson(9.0).sample((8,)),
        )

    funtorch.manual_seed(0)
    for numbers in vmap(draw, randomness="different")(funtorch.ones(5)):
        assert len({tuple(np.ravel(row)) for row in numbers.numpy()}) == 5
    same = vmap(lambda x: d.Bernoulli(0.5).sample((30,)) + 0 * x, randomness="same")(funtorch.ones(5)).numpy()
    assert (same == same[0]).all()
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(lambda r: d.Normal(r, 1.0).sample())(funtorch.ones(5))


def test_binomial_numbers_under_vmap():
    funtorch.manual_seed(0)
    counts, chances = funtorch.tensor([2.0, 50.0, 7.0]), funtorch.tensor([1.0, 0.5, 0.0])
    found = vmap(lambda n, p: d.Binomial(n, p).sample((100,)), randomness="different")(counts, chances)
    assert (found[0] == 2).all() and (found[2] == 0).all()
    assert abs(float(found[1].mean()) - 25) < 2


def test_gradients_through_samples_under_vmap():
    def loss(a: Any) -> Any:
        return d.Gamma(a, 1.0).rsample((5,)).sum()

    funtorch.manual_seed(0)
    a = funtorch.tensor([0.5, 2.0], dtype=funtorch.float64)
    found = vmap(grad(loss), randomness="different")(a)
    funtorch.manual_seed(0)
    leaf = a.clone().requires_grad_()
    drawn = d.Gamma(leaf.unsqueeze(-1).expand(2, 5), 1.0).rsample()
    (expected,) = funtorch.autograd.grad(drawn.sum(), leaf)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)


def test_a_compiled_step_draws_new_numbers():
    """The reparameterised loss of a normal posterior, compiled, takes the steps of the eager one."""

    def losses(step_of: Any) -> list:
        funtorch.manual_seed(0)
        loc, log_scale = (funtorch.zeros(3, requires_grad=True) for _ in range(2))
        optimizer = funtorch.optim.SGD([loc, log_scale], lr=0.05)

        def step() -> Any:
            optimizer.zero_grad()
            q = d.Normal(loc, log_scale.exp())
            z = q.rsample((4,))
            loss = d.kl_divergence(q, d.Normal(1.0, 2.0)).sum() - d.StudentT(3.0).log_prob(z).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        chosen = step_of(step)
        return [float(chosen()) for _ in range(8)]

    eager = losses(lambda f: f)
    np.testing.assert_allclose(losses(lambda f: funtorch.compile(f, fullgraph=True)), eager, rtol=1e-5)
    assert len(set(eager)) == 8


DRAWS = {
    "category": lambda x: d.Categorical(logits=x).sample(),
    "category, half": lambda x: d.Categorical(logits=x.bfloat16()).sample(),
    "one-hot": lambda x: d.OneHotCategorical(logits=x).sample(),
    "categories": lambda x: d.Categorical(logits=x).sample((50,)),
    "categories, double": lambda x: d.Categorical(logits=x[0].double()).sample((50,)),
    "counts": lambda x: d.Multinomial(20, logits=x).sample(),
    "mixture": lambda x: d.MixtureSameFamily(d.Categorical(logits=x[0]), d.Normal(x[1], 1.0)).sample((4,)),
    "two of three": lambda x: funtorch.multinomial(x.softmax(-1), 2),
    "coins": lambda x: d.Bernoulli(logits=x).sample(),
    "coins, double": lambda x: d.Bernoulli(logits=x.double()).sample(),
    "coins, straight through": lambda x: d.OneHotCategoricalStraightThrough(logits=x).rsample(),
    "geometric": lambda x: d.Geometric(logits=x).sample((3,)),
    "normal": lambda x: d.Normal(x, 1.0).sample(),
    "lanes": lambda x: vmap(lambda row: d.Categorical(logits=row).sample(), randomness="different")(x),
    "lanes of categories": lambda x: vmap(lambda row: d.Categorical(logits=row).sample((5,)), randomness="different")(x),
    "lanes without": lambda x: vmap(lambda row: d.Bernoulli(0.5 + 0 * x[0]).sample(), randomness="different")(x),
}


@pytest.mark.parametrize("name", DRAWS)
def test_compiled_draws_are_the_eager_ones(name: str):
    """Also where their law depends on the argument."""
    compiled, values = funtorch.compile(DRAWS[name], fullgraph=True), []
    for f in (DRAWS[name], compiled):
        funtorch.manual_seed(5)
        values.append([f(funtorch.tensor([[0.1, 0.2, 0.5], [1.0, 0.3, -3.0]]) * k) for k in range(6)])
    for eager, ours in zip(*values, strict=True):
        np.testing.assert_allclose(ours.float().numpy(), eager.float().numpy(), rtol=1e-5)
    assert sum(len(e.variants) for e in compiled.entries.values()) == 1


def test_a_compiled_draw_checks_its_chances():
    """A guard fails, and the eager call raises."""
    for make, message in (
        (lambda p: funtorch.bernoulli(p), "expects every p to be in"),
        (lambda p: funtorch.multinomial(p, 1), "probability tensor contains"),
    ):
        f = funtorch.compile(make, fullgraph=True)
        for _ in range(4):
            f(funtorch.tensor([0.5, 0.5]))
        with pytest.raises(RuntimeError, match=message):
            f(funtorch.tensor([0.5, -0.5]))
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        funtorch.compile(lambda p: funtorch.multinomial(p, 1))(funtorch.zeros(2))
    with pytest.raises(RuntimeError, match="fewer than 2 categories of positive weight"):
        funtorch.compile(lambda p: funtorch.multinomial(p, 2))(funtorch.tensor([0.0, 1.0, 0.0]))


def test_numbers_that_take_as_many_draws_as_they_need_stay_eager():
    f = funtorch.compile(lambda a: d.Gamma(a, 1.0).rsample())
    with pytest.warns(UserWarning, match="stays eager: _standard_gamma"):
        assert len({float(f(funtorch.tensor(2.0))) for _ in range(4)}) == 4
    nested = funtorch.compile(lambda a: vmap(lambda x: d.Poisson(x).sample(), randomness="different")(a))
    with pytest.warns(UserWarning, match="stays eager: poisson"):
        assert [nested(funtorch.tensor([5.0, 50.0])).shape for _ in range(4)] == [(2,)] * 4


def test_the_score_function_estimator():
    """REINFORCE: the samples pass no gradient, the log-probabilities do."""
    logits = funtorch.zeros(3, requires_grad=True)
    policy = d.Categorical(logits=logits)
    action = policy.sample()
    (-policy.log_prob(action) * 2.0).backward()
    expected = 2 * (policy.probs.detach() - funtorch.nn.functional.one_hot(action, 3))
    np.testing.assert_allclose(logits.grad.numpy(), expected.numpy(), rtol=1e-6)


def test_traced_properties_are_not_kept():
    """Under a bare JAX transform, where nothing may stay behind."""
    outer = d.Bernoulli(logits=funtorch.tensor([0.0, 1.0]))
    doubled = jax.jit(lambda x: d.Bernoulli(logits=x).probs * outer.probs)
    np.testing.assert_allclose(doubled(funtorch.tensor([0.0, 0.0])).numpy(), outer.probs.numpy() / 2)
    made = d.Bernoulli(logits=funtorch.tensor(0.0))
    assert "probs" not in vars(made)
    assert made.probs is made.probs and "probs" in vars(made)
    assert isinstance(d.Bernoulli.probs, d.utils.lazy_property)


def test_checks_can_be_turned_off():
    assert d.Normal(0.0, -1.0, validate_args=False).scale == -1
    try:
        d.Distribution.set_default_validate_args(False)
        assert d.Normal(0.0, -1.0).scale == -1
        assert d.Normal(0.0, 1.0).log_prob(0.0) < 0  # a number will do
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="expected True or False"):
        d.Distribution.set_default_validate_args(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a Tensor"):
        d.Normal(0.0, 1.0).log_prob(0.0)


@pytest.mark.parametrize("again", [lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies(again: Any):
    for made in (d.Normal(0.0, 2.0), d.Beta(1.0, 2.0), d.Gumbel(0.0, 1.0), d.Independent(d.Categorical(funtorch.ones(2, 2)), 1)):
        copied = again(made)
        assert repr(copied) == repr(made)
        value = made.sample()
        assert copied.log_prob(value).equal(made.log_prob(value))


def test_subclasses_with_an_init_need_an_expand():
    class Plain(d.Normal): ...

    class Unit(d.Normal):
        def __init__(self) -> None:
            super().__init__(0.0, 1.0)

    assert type(Plain(0.0, 1.0).expand((2,))) is Plain
    for made in (Unit(),):
        with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
            made.expand((2,))


def test_a_family_of_ones_own():
    """In PyTorch's style: constraints, a sample, a density; the rest raises or warns as there."""

    class Fixed(d.Distribution):
        arg_constraints = {"value": d.constraints.real}

        def __init__(self, value: Any, validate_args: bool | None = None) -> None:
            self.value = value
            super().__init__(value.shape, validate_args=validate_args)

        def log_prob(self, value: Any) -> Any:
            if self._validate_args:
                self._validate_sample(value)
            return funtorch.where(value == self.value, 0.0, -funtorch.inf)

    made = Fixed(funtorch.tensor([1.0, 2.0]))
    with pytest.warns(UserWarning, match="does not define `support`"):
        assert made.log_prob(funtorch.tensor([1.0, 1.0]))[1] == -funtorch.inf
    for name in ("mean", "mode", "variance", "stddev", "support"):
        with pytest.raises(NotImplementedError):
            getattr(made, name)
    for asked in (made.entropy, made.sample, made.rsample, made.enumerate_support, made.perplexity):
        with pytest.raises(NotImplementedError):
            asked()
    for asked in (made.cdf, made.icdf):
        with pytest.raises(NotImplementedError):
            asked(funtorch.tensor(1.0))
    with pytest.raises(NotImplementedError):
        made.expand((3, 2))
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        d.Distribution()


MODULES = (
    "bernoulli beta binomial categorical cauchy chi2 constraint_registry constraints continuous_bernoulli dirichlet distribution "
    "exp_family exponential fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal independent "
    "inverse_gamma kl kumaraswamy laplace lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family "
    "multinomial multivariate_normal negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli "
    "relaxed_categorical studentT transformed_distribution transforms uniform utils von_mises weibull wishart"
).split()


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_where_pytorch_has_them(name: str):
    theirs = importlib.import_module(f"torch.distributions.{name}")
    ours = importlib.import_module(f"funtorch.distributions.{name}")
    assert set(getattr(theirs, "__all__", ())) <= set(vars(ours))


def test_the_package_is_loaded_when_it_is_asked_for():
    code = "import funtorch, sys; a = 'funtorch.distributions' in sys.modules; funtorch.distributions.Normal; print(a)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_checks_inside_of_a_loop():
    """Say what is wrong when the loop has run."""

    def step(total: Any, scale: Any) -> tuple:
        made = d.Normal(total, scale)
        return total + made.log_prob(funtorch.tensor(0.5)), made.log_prob(funtorch.tensor(0.0))

    def looped(scales: Any) -> Any:
        return funtorch.transforms.scan(step, funtorch.tensor(0.0), scales)[0]

    expected = funtorch.tensor(0.0)
    for _ in range(3):
        expected = step(expected, funtorch.tensor(1.0))[0]
    assert float(looped(funtorch.ones(3))) == pytest.approx(float(expected), rel=1e-5)
    with pytest.raises(ValueError, match="Expected parameter scale of Normal to satisfy the constraint GreaterThan"):
        looped(funtorch.tensor([1.0, -1.0, 1.0]))


def test_subclasses_that_expand_as_pytorchs_do():
    """They set what PyTorch's families keep: the parameters, and which of them was given."""

    class Coin(d.Bernoulli):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Coin, _instance)
            new.probs = self.probs.expand(batch_shape)
            new._param = new.probs
            d.Distribution.__init__(new, batch_shape, validate_args=False)
            return new

    class Waiting(d.Weibull):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Waiting, _instance)
            names = ("scale", "concentration", "concentration_reciprocal")
            for name in names:
                setattr(new, name, getattr(self, name).expand(batch_shape))
            new.base_dist, new.transforms = self.base_dist.expand(batch_shape), self.transforms
            d.Distribution.__init__(new, batch_shape, validate_args=False)
            return new

    coin = Coin(funtorch.tensor([0.25, 0.5])).expand((3, 2))
    assert coin.enumerate_support().shape == (2, 3, 2)
    assert coin._param.shape == (3, 2)
    assert Waiting(1.0, 2.0).expand((3,)).mean.tolist() == pytest.approx([0.886227] * 3)
