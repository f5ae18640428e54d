"""The losses: against PyTorch, with weights, reductions, ends and errors."""

import warnings

import numpy as np
import pytest
import torch as oracle

import funtorch as torch

RNG = np.random.default_rng(1)
X, Y, W = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 4)), RNG.uniform(0.5, 2, (3, 4))
P, Q = RNG.uniform(0.05, 0.95, (3, 4)), RNG.uniform(0, 1, (3, 4))
SIGNS = np.where(X > 0, 1.0, -1.0)
CLASSES, C_WEIGHT = np.array([2, 0, 3]), np.array([1.0, 2.0, 0.5, 3.0])
IMAGES, LABELS = RNG.standard_normal((2, 3, 2, 2)), np.array([[[0, 2], [1, 1]], [[2, -100], [0, 0]]])
EACH = ("mean", "sum", "none")


def every(name, *positions, fixed=False, **named):
    """The loss with each reduction, of the arguments at these positions; ``fixed``: without gradient for the target."""

    def losses(t, *xs):
        given = [xs[i].detach() if fixed and i == 1 else xs[i] for i in positions]
        return [getattr(t.nn.functional, name)(*given, reduction=r, **named) for r in EACH]

    return losses


ELEMENTWISE = [
    (every("mse_loss", 0, 1), X, Y),
    (lambda t, x, y, w: [t.nn.functional.mse_loss(x, y, reduction=r, weight=w.detach()) for r in EACH], X, Y, W),
    (every("l1_loss", 0, 1), X, np.where(np.arange(4) == 1, X, Y)),
    (every("smooth_l1_loss", 0, 1, beta=0.7), X, Y),
    (every("huber_loss", 0, 1, delta=0.7), X, Y),
    (lambda t, x, y, w: [t.nn.functional.huber_loss(x, y, reduction=r, weight=w.detach()) for r in EACH], X, Y, W),
    (every("binary_cross_entropy", 0, 1), P, Q),
    (lambda t, x, y, w: t.nn.functional.binary_cross_entropy(x, y, w.detach()), P, Q, W),
    (every("binary_cross_entropy_with_logits", 0, 1), X * 20, Q),
    (
        lambda t, x, y, w, p: t.nn.functional.binary_cross_entropy_with_logits(x, y, w.detach(), pos_weight=p.detach()),
        X,
        Q,
        W,
        C_WEIGHT,
    ),
    (every("kl_div", 0, 1), X, Q),
    (every("kl_div", 0, 1, log_target=True), X, Y),
    (lambda t, x, y: t.nn.functional.kl_div(x, y, reduction="batchmean"), X, Q),
    (every("poisson_nll_loss", 0, 1, fixed=True, full=True), X, np.round(5 * Q)),
    (every("poisson_nll_loss", 0, 1, fixed=True, log_input=False), P, np.round(5 * Q)),
    (every("gaussian_nll_loss", 0, 1, 2, full=True), X, Y, Q),
    (every("gaussian_nll_loss", 0, 1, 2), X, Y, Q[:, 0]),
    (every("soft_margin_loss", 0, 1, fixed=True), X * 30, SIGNS),
    (every("margin_ranking_loss", 0, 1, 2, margin=0.3), X, Y, SIGNS),
    (every("hinge_embedding_loss", 0, 1, fixed=True), X, SIGNS),
    (every("cosine_embedding_loss", 0, 1, 2, margin=0.1), X, Y, np.array([1, -1, 1])),
    (every("triplet_margin_loss", 0, 1, 2, swap=True), X, Y, W),
    (every("triplet_margin_loss", 0, 1, 2, p=1.5), X, Y, W),
    (every("triplet_margin_with_distance_loss", 0, 1, 2), X, Y, W),
    (every("multilabel_soft_margin_loss", 0, 1), X, np.round(Q)),
    (every("multilabel_soft_margin_loss", 0, 1), X[:, :1], np.round(Q)),
    (every("binary_cross_entropy_with_logits", 0, 1), X, Q.astype(np.float32)),
]
OF_CLASSES = [
    (every("nll_loss", 0, 1), X, CLASSES),
    (lambda t, x, y, w: [t.nn.functional.nll_loss(x, y, w.detach(), reduction=r) for r in EACH], X, CLASSES, C_WEIGHT),
    (every("nll_loss", 0, 1), IMAGES, LABELS),
    (every("cross_entropy", 0, 1), X * 100, CLASSES),
    (every("cross_entropy", 0, 1, label_smoothing=0.2), IMAGES, LABELS),
    (lambda t, x, y, w: [t.nn.functional.cross_entropy(x, y, w.detach(), reduction=r, label_smoothing=0.3) for r in EACH], X, CLASSES, C_WEIGHT),
    (lambda t, x, y, w: [t.nn.functional.cross_entropy(x, y, w.detach(), reduction=r, ignore_index=0) for r in EACH], X, CLASSES, C_WEIGHT),
    (lambda t, x, y, w: [t.nn.functional.cross_entropy(x, y, w.detach(), reduction=r, label_smoothing=0.3) for r in EACH], X, Q, C_WEIGHT),
    (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor(1)), C_WEIGHT),
    (every("multi_margin_loss", 0, 1, p=2, margin=0.5), X, CLASSES),
    (lambda t, x, y, w: t.nn.functional.multi_margin_loss(x, y, weight=w.detach()), X, CLASSES, C_WEIGHT),
    (every("multilabel_margin_loss", 0, 1), X, np.array([[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]])),
]  # fmt: skip


@pytest.mark.parametrize("case", ELEMENTWISE + OF_CLASSES, ids=lambda case: str(len(case)))
@pytest.mark.filterwarnings("ignore:reduction")
def test_losses_agree(case, agree):
    agree(*case)


def test_slopes_at_the_ends_of_probabilities_are_torch_s(agree):
    agree(every("binary_cross_entropy", 0, 1, fixed=True), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0]))


def test_all_targets_ignored_gives_nan_and_one_ignored_gives_no_gradient(agree):
    agree(lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([-100, -100, -100])), X)
    agree(lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([-100, 1, 0])), X)


def test_a_class_that_does_not_exist_gives_nan_where_it_cannot_raise():
    each = torch.transforms.jit(lambda x, y: torch.nn.functional.cross_entropy(x, y, reduction="none"))
    losses = each(torch.tensor(X), torch.tensor([0, 4, 1]))
    assert losses.isnan().tolist() == [False, True, False]


def test_cross_entropy_of_halves_is_computed_in_float32():
    logits = torch.zeros(1, 512, dtype=torch.bfloat16)
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor([1]))
    assert loss.dtype == torch.bfloat16 and abs(loss.item() - np.log(512)) < 0.02


CTC = [
    {"targets": np.array([[1, 2, 2], [3, 1, 0]]), "lengths": ([6, 5], [3, 2])},
    {"targets": np.array([1, 2, 2, 3, 1]), "lengths": ([6, 5], [3, 2])},
    {"targets": np.array([[1, 2, 2], [3, 1, 0]]), "lengths": ([6, 5], [3, 0])},
    {"targets": np.array([[2, 2, 2], [3, 1, 0]]), "lengths": ([4, 6], [3, 2])},
]


@pytest.mark.parametrize("case", CTC)
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss_agrees(case, zero_infinity, agree):
    def losses(t, x, y):
        lengths = [t.tensor(n) for n in case["lengths"]]
        logs = x.log_softmax(2)
        return [t.nn.functional.ctc_loss(logs, y, *lengths, reduction=r, zero_infinity=zero_infinity) for r in EACH]

    agree(losses, RNG.standard_normal((6, 2, 4)), case["targets"])


@pytest.mark.parametrize("reduction", EACH)
def test_only_the_sequence_without_an_alignment_has_an_undefined_gradient(reduction, agree):
    def loss(t, x):
        return t.nn.functional.ctc_loss(x.log_softmax(2), t.tensor([[1, 2, 3]] * 3), (4, 2, 4), (2, 3, 3), reduction=reduction)

    agree(loss, RNG.standard_normal((4, 3, 4)))


def test_ctc_gradient_without_softmax_is_torch_s(agree):
    logs = np.log(RNG.dirichlet(np.ones(4), (5, 2)))
    agree(lambda t, x: t.nn.functional.ctc_loss(x, t.tensor([[1, 2], [3, 3]]), (5, 5), (2, 2)), logs)


@pytest.mark.parametrize("shape", [(4, 2), (4, 5, 2)])
def test_cross_entropy_of_a_linear_function_agrees(shape, agree):
    weight, x = RNG.standard_normal(shape), RNG.standard_normal((3, 2))
    target = RNG.integers(0, 4, (3, *shape[1:-1]))
    agree(lambda t, x, w, y: t.nn.functional.linear_cross_entropy(x, w, y, label_smoothing=0.1), x, weight, target)


@pytest.mark.parametrize("loss", ["smooth_l1_loss", "huber_loss", "l1_loss"])
def test_an_infinite_difference_has_a_finite_slope(loss, agree):
    x = np.array([np.inf, -np.inf, 1e30, 0.5, 1.0, -1.0])
    agree(lambda t, x: getattr(t.nn.functional, loss)(x, t.zeros(6, dtype=t.float64), reduction="none"), x)


def test_old_arguments_win_with_a_warning():
    x, y = torch.tensor(X), torch.tensor(Y)
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated, please use reduction='sum'"):
        total = torch.nn.functional.mse_loss(x, y, size_average=False)
    assert torch.equal(total, torch.nn.functional.mse_loss(x, y, reduction="sum"))


def test_other_sizes_are_broadcast_with_a_warning():
    with pytest.warns(UserWarning, match="Using a target size"):
        torch.nn.functional.mse_loss(torch.zeros(3), torch.zeros(1))


REFUSED = [
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1])),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1, 5])),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1, -5])),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.zeros(3)),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.zeros(3, 5, dtype=t.int64)),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1, 2]), t.zeros(4)),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5, 2, 2), t.zeros(3, 2, 3, dtype=t.int64)),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1, 2]), label_smoothing=1.5),
    lambda t: t.nn.functional.cross_entropy(t.zeros(3, 5), t.tensor([0, 1, 2]), reduction="avg"),
    lambda t: t.nn.functional.nll_loss(t.zeros(()), t.tensor(0)),
    lambda t: t.nn.functional.mse_loss(t.zeros(3), t.zeros(3), weight=t.zeros(2)),
    lambda t: t.nn.functional.mse_loss(t.tensor([1]), t.tensor([1])),
    lambda t: t.nn.functional.smooth_l1_loss(t.zeros(3), t.zeros(3), beta=-1),
    lambda t: t.nn.functional.huber_loss(t.zeros(3), t.zeros(3), delta=0),
    lambda t: t.nn.functional.binary_cross_entropy(t.zeros(3), t.zeros(4)),
    lambda t: t.nn.functional.binary_cross_entropy(t.zeros(3) + 2, t.zeros(3)),
    lambda t: t.nn.functional.binary_cross_entropy_with_logits(t.zeros(3), t.zeros(4)),
    lambda t: t.nn.functional.gaussian_nll_loss(t.zeros(3), t.zeros(3), t.zeros(3) - 1),
    lambda t: t.nn.functional.gaussian_nll_loss(t.zeros(3, 2), t.zeros(3, 2), t.zeros(2)),
    lambda t: t.nn.functional.margin_ranking_loss(t.zeros(3), t.zeros(3), t.zeros(3, 1)),
    lambda t: t.nn.functional.cosine_embedding_loss(t.zeros(3, 2, 2), t.zeros(3, 2, 2), t.zeros(3)),
    lambda t: t.nn.functional.triplet_margin_loss(t.zeros(3, 2), t.zeros(3, 2), t.zeros(2)),
    lambda t: t.nn.functional.triplet_margin_loss(t.zeros(3, 2), t.zeros(3, 2), t.zeros(3, 2), margin=-1),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5), t.tensor([0, 1])),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5), t.tensor([0, 1, 7])),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5), t.tensor([0, 1, 2]), p=3),
    lambda t: t.nn.functional.multilabel_margin_loss(t.zeros(3, 5), t.zeros(4, 5, dtype=t.int64)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(2, 3, dtype=t.int64), (5, 5), (3, 4)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(2, 3, dtype=t.int64), (5,), (3, 3)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(2, 3, dtype=t.int64), (5, -1), (3, 3)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(2, 3, dtype=t.int64), (5, 5), (3, -3)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(1, 3, dtype=t.int64), (5, 5), (3, 3)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(5, dtype=t.int64), (5, 5), (3, 3)),
    lambda t: t.nn.functional.ctc_loss(t.zeros(5, 2, 4), t.ones(1, 2, 3, dtype=t.int64), (5, 5), (3, 3)),
    lambda t: t.nn.functional.ctc_loss(
        t.zeros(5, 0, 4), t.ones(0, 3, dtype=t.int64), t.tensor([], dtype=t.int64), t.tensor([], dtype=t.int64)
    ),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5), t.tensor([0, 1, 2]).int()),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5), t.tensor([0, 1, 2]), weight=t.ones(5).double()),
    lambda t: t.nn.functional.multi_margin_loss(t.zeros(3, 5, 2), t.tensor([0, 1, 2])),
    lambda t: t.nn.functional.multilabel_margin_loss(t.zeros(3, 5), t.zeros(3, 5)),
    lambda t: t.nn.functional.multilabel_soft_margin_loss(t.zeros(()), t.zeros(())),
    lambda t: t.nn.functional.multilabel_soft_margin_loss(t.tensor([1]), t.tensor([1])),
    lambda t: t.nn.functional.kl_div(t.zeros(3), t.ones(3, dtype=t.int64)),
    lambda t: t.nn.functional.soft_margin_loss(t.zeros(3, 1), t.ones(3)),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refuse(wrong)


def test_ctc_padding_may_be_any_number():
    """Labels beyond a sequence's end change neither the loss nor its gradient, whatever they are."""
    found = []
    for junk in (0, 99, -7):
        x = torch.tensor(np.log(np.full((3, 2, 4), 0.25)), requires_grad=True)
        targets = torch.tensor([[1, 2], [3, junk]])
        loss = torch.nn.functional.ctc_loss(x, targets, torch.tensor([3, 3]), torch.tensor([2, 1]), reduction="none")
        loss.sum().backward()
        found.append((loss.tolist(), x.grad.tolist()))
    assert np.isfinite(np.array(found[0][1])).all() and found[0] == found[1] == found[2]


@pytest.mark.parametrize("which", ["input", "target"])
@pytest.mark.parametrize("wrong", [1.5, -0.5, float("nan")])
def test_probabilities_and_their_targets_lie_between_0_and_1(which, wrong):
    import torch as theirs

    for t in (torch, theirs):
        given = {"input": t.tensor([0.5, 0.5]), "target": t.tensor([0.0, 1.0])}
        given[which][1] = wrong
        with pytest.raises(RuntimeError, match=f"all elements of {which} should be between 0 and 1"):
            t.nn.functional.binary_cross_entropy(**given)


NUMBERED = {
    "margin_ranking_loss": lambda f, x, y, **how: f(x, y, y.sign(), 0.3, **how),
    "hinge_embedding_loss": lambda f, x, y, **how: f(x, y.sign(), 0.5, **how),
    "cosine_embedding_loss": lambda f, x, y, **how: f(x, y, y[:, 0].sign(), 0.1, **how),
    "triplet_margin_loss": lambda f, x, y, **how: f(x, y, x * y, 1.0, 2, **how),
    "kl_div": lambda f, x, y, **how: f(x, y.abs(), **how),
    "poisson_nll_loss": lambda f, x, y, reduction=0: f(x, y, True, False, 1e-8, reduction),
    "binary_cross_entropy_with_logits": lambda f, x, y, **how: f(x, y, None, y.abs(), **how),
    "ctc_loss": lambda f, x, y, **how: f(x[:, None].log_softmax(2), y.long()[:1] * 0 + 1, (3,), (2,), **how),
}


@pytest.mark.parametrize("how", [{}, {"reduction": 0}, {"reduction": 1}, {"reduction": 2}, {"reduction": 7}])
@pytest.mark.parametrize("name", NUMBERED)
def test_torch_s_own_forms_take_a_number(name, how, agree):
    agree(lambda t, x, y: NUMBERED[name](getattr(t, name), x, y.detach(), **how), X, Y)


@pytest.mark.parametrize("wrong", ["mean", 1.0, True])
def test_torch_s_own_forms_take_no_word(wrong, refuse):
    refuse(lambda t: t.kl_div(t.zeros(2), t.ones(2), reduction=wrong))


OF_TWO_TYPES = {
    "gaussian_nll_loss": lambda f, x, y: f.gaussian_nll_loss(x, y, y.abs() + 1, full=True),
    "multilabel_soft_margin_loss": lambda f, x, y: f.multilabel_soft_margin_loss(x, (y > 0).to(y.dtype)),
    "multilabel_soft_margin_loss, weights": lambda f, x, y: f.multilabel_soft_margin_loss(x, (x > 0).to(x.dtype), y[0].abs()),
    "mse_loss, weights": lambda f, x, y: f.mse_loss(x, x * 2, weight=y.abs()),
    "l1_loss, weights": lambda f, x, y: f.l1_loss(x, x * 2, weight=y.abs()),
    "huber_loss, weights": lambda f, x, y: f.huber_loss(x, x * 2, weight=y.abs()),
    "hinge_embedding_loss": lambda f, x, y: f.hinge_embedding_loss(x, y.sign().detach()),
    "cosine_embedding_loss": lambda f, x, y: f.cosine_embedding_loss(x, y, (x[:, 0].detach() > 0).float() * 2 - 1),
    "cross_entropy": lambda f, x, y: f.cross_entropy(x, y.softmax(1)),
    "binary_cross_entropy_with_logits": lambda f, x, y: f.binary_cross_entropy_with_logits(x, y.sigmoid()),
}


@pytest.mark.parametrize(
    "kinds", [("bfloat16", "float32"), ("float32", "float16"), ("float16", "bfloat16"), ("float64", "bfloat16")]
)
@pytest.mark.parametrize("name", OF_TWO_TYPES)
def test_a_loss_of_two_types_is_computed_in_their_common_one(name, kinds):
    found = []
    for t in (oracle, torch):
        x, y = (
            t.linspace(a, b, 12).reshape(3, 4).to(getattr(t, k)) for (a, b), k in zip([(-2, 2.2), (2, -1.5)], kinds, strict=True)
        )
        x.requires_grad_()
        loss = OF_TWO_TYPES[name](t.nn.functional, x, y)
        (slope,) = t.autograd.grad(loss, x)
        found.append((str(loss.dtype), str(slope.dtype), loss.item(), slope.double().numpy()))
    want, got = found
    assert got[:2] == want[:2]
    np.testing.assert_allclose(got[2], want[2], rtol=1e-2)
    np.testing.assert_allclose(got[3], want[3], rtol=3e-2, atol=3e-2 * abs(want[3]).max())
