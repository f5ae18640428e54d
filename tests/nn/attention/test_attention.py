"""nn.attention against PyTorch's (flex_attention there runs uncompiled), in values and gradients."""

import numpy as np
import pytest
import torch
import torch.nn.attention.flex_attention as torch_flex

import funtorch
import funtorch.nn.attention.flex_attention as flex
from funtorch.nn.attention import SDPBackend, bias, sdpa_kernel

BOTH = ((torch, torch_flex), (funtorch, flex))
pytestmark = pytest.mark.filterwarnings("ignore")


def _inputs(lib, heads=2, shared=2, queries=5, keys=6, batch=2):
    rng = np.random.default_rng(1)
    shapes = (batch, heads, queries, 4), (batch, shared, keys, 4), (batch, shared, keys, 3)
    return [lib.tensor(rng.normal(size=s).tolist(), dtype=lib.float64).requires_grad_() for s in shapes]


def _causal(b, h, q, kv):
    return q >= kv


def _window(b, h, q, kv):
    return (q - kv).abs() <= 1 + b


CASES = {
    "plain": lambda lib, f, x, t: f.flex_attention(*x),
    "scale": lambda lib, f, x, t: f.flex_attention(*x, scale=0.3),
    "relative": lambda lib, f, x, t: f.flex_attention(*x, score_mod=lambda s, b, h, q, kv: s + 0.1 * (q - kv)),
    "softcap": lambda lib, f, x, t: f.flex_attention(*x, score_mod=lambda s, b, h, q, kv: 2 * (s / 2).tanh()),
    "learned": lambda lib, f, x, t: f.flex_attention(*x, score_mod=lambda s, b, h, q, kv: s * t[h] + t[b]),
    "causal": lambda lib, f, x, t: f.flex_attention(*x, block_mask=f.create_block_mask(_causal, None, None, 5, 6, device="cpu")),
    "by batch": lambda lib, f, x, t: f.flex_attention(*x, block_mask=f.create_block_mask(_window, 2, None, 5, 6, device="cpu")),
    "both": lambda lib, f, x, t: f.flex_attention(
        *x, lambda s, b, h, q, kv: s * (h + 1),
        f.create_block_mask(f.and_masks(_causal, f.or_masks(_window, _causal)), 2, 2, 5, 6, device="cpu"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    results = []
    for lib, module in BOTH:
        x = [t.detach() for t in _inputs(lib)]
        results.append(CASES[name](lib, module, x, lib.tensor([0.5, 1.5], dtype=lib.float64)))
    np.testing.assert_allclose(results[1].numpy(), results[0].numpy(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):  # PyTorch's has none on the CPU
    t = funtorch.tensor([0.5, 1.5], dtype=funtorch.float64, requires_grad=True)
    inputs = [*_inputs(funtorch), *[t] * (name == "learned")]
    assert funtorch.autograd.gradcheck(lambda *x: CASES[name](funtorch, flex, x[:3], x[-1]), inputs)


def test_shared_heads_and_what_else_is_given():
    results = []
    for lib, module in BOTH:
        x = [t.detach() for t in _inputs(lib, heads=4, shared=2)]
        results.append(module.flex_attention(*x, enable_gqa=True, return_lse=True))
    for want, got in zip(*results, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


def test_a_query_that_sees_nothing_gives_zero_and_no_gradient():
    q, k, v = _inputs(funtorch)
    mask = flex.create_block_mask(lambda b, h, q, kv: q > 10 * (kv < 100), None, None, 5, 6)
    out, aux = flex.flex_attention(q, k, v, block_mask=mask, return_aux=flex.AuxRequest(lse=True, max_scores=True))
    out.sum().backward()
    assert out.abs().max() == 0 and q.grad.abs().max() == 0
    assert (aux.lse == -funtorch.inf).all() and (aux.max_scores == -funtorch.inf).all()


def test_under_transforms():
    q, k, v = (t.detach() for t in _inputs(funtorch))

    def f(q):
        return flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * 0.5).sum()

    batched = funtorch.vmap(funtorch.func.grad(f))(funtorch.stack([q, 2 * q]))
    for got, x in zip(batched, (q, 2 * q), strict=True):
        assert funtorch.allclose(got, funtorch.func.grad(f)(x))


def test_masks():
    mine, theirs = (m.create_block_mask(_causal, 1, 1, 8, 8, device="cpu", BLOCK_SIZE=2) for _, m in reversed(BOTH))
    assert mine.shape == tuple(theirs.shape) and mine.sparsity() == pytest.approx(theirs.sparsity())
    assert mine.to_dense().tolist() == theirs.to_dense().tolist()
    for _, module in BOTH:
        assert module.create_mask(_causal, 1, 1, 2, 3, "cpu").tolist() == [[[[True, False, False], [True, True, False]]]]
    assert "sparsity=" in repr(mine)


@pytest.mark.parametrize(("sizes", "message"), [({"shared": 1}, "enable_gqa"), ({"queries": 4}, "block_mask was created for")])
def test_sizes_that_do_not_fit(sizes, message):
    mask = flex.create_block_mask(_causal, None, None, 5, 6)
    with pytest.raises(ValueError, match=message):
        flex.flex_attention(*_inputs(funtorch, **sizes), block_mask=mask)


@pytest.mark.parametrize("size", [(3, 5), (4, 4), (5, 3)])
def test_causal_biases(size):
    from torch.nn.attention import bias as theirs

    for name in ("causal_upper_left", "causal_lower_right"):
        results = []
        for lib, module in ((torch, theirs), (funtorch, bias)):
            rng = np.random.default_rng(2)
            q, k = (lib.tensor(rng.normal(size=(1, 2, n, 4)).tolist(), dtype=lib.float64) for n in size)
            mask = getattr(module, name)(*size)
            results.append(lib.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask).numpy())
        np.testing.assert_allclose(results[1], results[0], rtol=1e-9)


def test_wrong_causal_biases():
    q = funtorch.ones(1, 1, 3, 2)
    with pytest.warns(UserWarning, match="seq_len_q > seq_len_kv"):
        bias.causal_lower_right(5, 3)
    with pytest.raises(AssertionError, match="only supports 2D"):
        bias.causal_upper_left(3)
    with pytest.raises(ValueError, match="should not be used with causal=True"):
        funtorch.nn.functional.scaled_dot_product_attention(q, q, q, bias.causal_upper_left(3, 3), is_causal=True)


def test_kernels_that_may_be_used():
    q = funtorch.rand(1, 2, 3, 4)
    want = funtorch.nn.functional.scaled_dot_product_attention(q, q, q)
    for chosen in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        with sdpa_kernel(chosen):
            assert funtorch.equal(funtorch.nn.functional.scaled_dot_product_attention(q, q, q), want)
    for wrong in ("math", [1], (SDPBackend.MATH,)):
        with pytest.raises(AssertionError, match="SDPBackend"), sdpa_kernel(wrong):
            pass


def test_switches_and_chosen_kernels_are_one():
    switches = funtorch.backends.cuda
    attend, q = funtorch.nn.functional.scaled_dot_product_attention, funtorch.rand(1, 2, 3, 4)
    with sdpa_kernel(SDPBackend.MATH):
        assert switches.math_sdp_enabled() and not switches.flash_sdp_enabled()
        switches.enable_flash_sdp(True)
    assert switches.mem_efficient_sdp_enabled() and str(SDPBackend.MATH) == "SDPBackend.MATH"
    for chosen in ([], [SDPBackend.ERROR]):
        with sdpa_kernel(chosen), pytest.raises(RuntimeError, match="No viable backend"):
            attend(q, q, q)
    with switches.sdp_kernel(enable_flash=False, enable_math=False), pytest.raises(RuntimeError, match="No viable backend"):
        attend(q, q, q)
    attend(q, q, q)
