"""Normalisation: against PyTorch, running statistics and large means too."""

import numpy as np
import pytest

import funtorch as torch

RNG = np.random.default_rng(2)
X, W, B = RNG.standard_normal((3, 4, 5)), RNG.standard_normal(4), RNG.standard_normal(4)

CASES = [
    (lambda t, x, w, b: t.nn.functional.layer_norm(x.mT, (4,), w, b), X, W, B),
    (lambda t, x: t.nn.functional.layer_norm(x, (4, 5), eps=1e-3), X),
    (lambda t, x, w: t.nn.functional.rms_norm(x.mT, (4,), w), X, W),
    (lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b), X, W, B),
    (lambda t, x, w, b: t.nn.functional.instance_norm(x, weight=w, bias=b), X, W, B),
    (lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, training=True), X, W, B),
    (lambda t, x, w, b: t.nn.functional.batch_norm(x, b.detach(), (w * w).detach(), w, b, eps=1e-3), X, W, B),
    (lambda t, x: t.nn.functional.local_response_norm(x, 3, alpha=0.5), X),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(len(case)))
def test_norms_agree(case, agree):
    agree(*case)


def test_torch_s_own_forms_agree(agree):
    def run(t, x, w, b):
        groups = t.native_group_norm(x, w, b, 3, 4, 5, 2, 1e-5)
        batch = t.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)
        return groups, batch, t.native_layer_norm(x.mT, (4,), w, b, 1e-5), t.layer_norm(x.mT, (4,), w, b)

    agree(run, X, W, B)


@pytest.mark.parametrize("name, mode", [("batch_norm", "training"), ("instance_norm", "use_input_stats")])
def test_running_statistics_move_as_in_torch(name, mode, agree):
    def run(t, x, w):
        mean, var = t.zeros(4, dtype=t.float64), t.ones(4, dtype=t.float64)
        zs = [getattr(t.nn.functional, name)(x * k, mean, var, w, momentum=0.3, **{mode: True}) for k in (1, 2)]
        zs.append(getattr(t.nn.functional, name)(x, mean, var, w, **{mode: False}))
        return zs, mean.clone(), var.clone()

    agree(run, X, W)


def test_running_statistics_have_no_history():
    mean, var = torch.zeros(4), torch.ones(4)
    x = torch.tensor(X, dtype=torch.float32, requires_grad=True)
    torch.nn.functional.batch_norm(x, mean, var, training=True).sum().backward()
    assert not mean.requires_grad and mean.grad_fn is None
    assert mean._version > 0


def test_running_statistics_under_vmap_raise():
    mean, var = torch.zeros(4), torch.ones(4)
    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(lambda x: torch.nn.functional.batch_norm(x, mean, var, training=True))(torch.ones(2, 3, 4))


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_a_large_mean_does_no_harm(shift):
    x = torch.tensor(X + shift, dtype=torch.float64)
    exact = torch.nn.functional.layer_norm(x, (5,))
    found = torch.nn.functional.layer_norm(x.float(), (5,)).double()
    assert (exact - found).abs().max().item() < 5e-3  # the input itself is rounded to 1e-3 of its deviation


def test_halves_are_computed_in_float32():
    x = torch.tensor(X.reshape(1, -1), dtype=torch.bfloat16)
    exact = torch.nn.functional.layer_norm(x.double(), (60,))
    assert (torch.nn.functional.layer_norm(x, (60,)).double() - exact).abs().max().item() < 0.01


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rms_norm_s_own_epsilon_is_that_of_the_type_it_is_computed_in(dtype, agree):
    x = np.array([1e-3, 2e-3])
    agree(lambda t, x: t.nn.functional.rms_norm(x.to(getattr(t, dtype)), (2,)), x, grad=False)
    agree(lambda t, x: t.nn.RMSNorm(2).to(getattr(t, dtype))(x.to(getattr(t, dtype))), x, grad=False)


def test_sizes_may_be_numbers_of_numpy():
    assert torch.nn.LayerNorm(np.int64(3)).normalized_shape == torch.nn.RMSNorm(np.int32(3)).normalized_shape == (3,)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_cross_map_norm_counts_as_many_channels_on_either_side(size):
    x = torch.tensor(X.reshape(3, 5, 4, 1))
    reach = (size - 1) // 2
    sums = [(x[:, max(c - reach, 0) : c + reach + 1] ** 2).sum(1) for c in range(5)]
    expected = x / (2.0 + 0.5 / size * torch.stack(sums, 1)) ** 0.7
    assert torch.allclose(torch.nn.CrossMapLRN2d(size, 0.5, 0.7, 2.0)(x), expected)


REFUSED = [
    lambda t: t.nn.CrossMapLRN2d(2)(t.zeros(3, 2, 2)),
    lambda t: t.nn.InstanceNorm1d(2).load_state_dict({"running_mean": t.zeros(2)}),
    lambda t: t.nn.Sequential(t.nn.InstanceNorm1d(2)).load_state_dict({"0.running_var": t.zeros(2)}, strict=False),
    lambda t: t.nn.functional.layer_norm(t.zeros(3, 2), (3,)),
    lambda t: t.nn.functional.layer_norm(t.zeros(3, 2), (2,), t.zeros(3)),
    lambda t: t.nn.functional.layer_norm(t.zeros(3, 2), ()),
    lambda t: t.nn.functional.layer_norm(t.zeros(3, 2), 2),
    lambda t: t.nn.functional.rms_norm(t.zeros(3, 2), (3,)),
    lambda t: t.nn.functional.batch_norm(t.zeros(3, 2), t.zeros(3), t.zeros(3)),
    lambda t: t.nn.functional.batch_norm(t.zeros(3, 2), None, None),
    lambda t: t.nn.functional.batch_norm(t.zeros(3, 2), t.zeros(2), None, training=True),
    lambda t: t.nn.functional.batch_norm(t.zeros(1, 2), t.zeros(2), t.zeros(2), training=True),
    lambda t: t.nn.functional.batch_norm(t.zeros(3, 2), t.zeros(2), t.zeros(2), t.zeros(3)),
    lambda t: t.nn.functional.group_norm(t.zeros(3, 4), 3),
    lambda t: t.nn.functional.group_norm(t.zeros(1, 4), 4),
    lambda t: t.nn.functional.instance_norm(t.zeros(3, 4, 1)),
    lambda t: t.nn.functional.instance_norm(t.zeros(3, 4, 2), use_input_stats=False),
    lambda t: t.nn.functional.local_response_norm(t.zeros(3), 2),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)
