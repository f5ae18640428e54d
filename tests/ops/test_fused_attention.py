"""Attention in an accelerator's kernel: what a TPU's program holds, what cuDNN is asked for, and every derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funtorch as torch
from funtorch.nn.attention import SDPBackend, sdpa_kernel
from funtorch.ops import attention, fused_attention
from funtorch.ops.fused_attention import Plan, Shapes, fused_op, plan_of, served

WIDE = (2, 4, 128, 64)
SMALL = (2, 4, 6, 8)
attend = torch.nn.functional.scaled_dot_product_attention


@pytest.fixture
def on(monkeypatch):
    """Makes funtorch believe that JAX runs on a platform."""

    def believe(platform):
        for module in (attention, fused_attention):
            monkeypatch.setattr(module, "platform_of_kernels", lambda: platform)

    return believe


@pytest.fixture
def cudnn(monkeypatch, on):
    """A stand-in for cuDNN on this CPU: it records what it is asked for, and answers with XLA's formula."""
    on("cuda")
    asked = []
    formula = jax.nn.dot_product_attention

    def recorded(query, key, value, bias=None, *, scale, is_causal, implementation):
        asked.append((implementation, query.dtype.name, query.shape, key.shape, bias is not None, is_causal))
        return formula(query, key, value, bias, scale=scale, is_causal=is_causal)

    monkeypatch.setattr(jax.nn, "dot_product_attention", recorded)
    monkeypatch.setattr(fused_attention, "_where", lambda plan, fast, slow: fast)
    fused_op.cache_clear()
    yield asked
    fused_op.cache_clear()


def program(function, platform, *args):
    return jax.export.export(jax.jit(function), platforms=[platform])(*args).mlir_module()


def tpu_op(**options):
    plan = Plan("tpu", **({"causal": False, "scale": None, "groups": False} | options))
    return fused_op(plan, attention._planned)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"scale": 0.3}], ids=str)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_a_tpu_s_program_holds_the_kernel_forward_and_backward(options, dtype):
    q, op = jnp.ones(WIDE, dtype), tpu_op(**options)
    assert program(op.fn, "tpu", q, q, q).count("tpu_custom_call") == 1
    assert program(op.vjp((True, True, True)).fn, "tpu", q, q, q, q).count("tpu_custom_call") == 3
    assert "tpu_custom_call" not in program(op.fn, "cpu", q, q, q)


@pytest.mark.parametrize("kind", [jnp.bool_, jnp.float32], ids=["bools", "floats"])
def test_a_tpu_s_kernel_takes_masks_and_groups(kind):
    q, k, op = jnp.ones(WIDE, "float32"), jnp.ones((2, 2, 128, 64), "float32"), tpu_op(groups=True)
    mask = jnp.ones((128, 128), kind)
    assert "tpu_custom_call" in program(op.fn, "tpu", q, k, k, mask)
    assert "tpu_custom_call" in program(op.vjp((True, True, True, kind == jnp.float32)).fn, "tpu", q, k, k, mask, q)


def test_second_derivatives_of_a_tpu_s_are_the_formula_s():
    q, op = jnp.ones(WIDE, "float32"), tpu_op()
    push = op.vjp((True, True, True)).vjp((True, True, True, True)).fn
    assert program(lambda *a: push(*a), "tpu", q, q, q, q, q, q, q)
    assert program(op.jvp((True, True, True)).fn, "tpu", *[q] * 6)


MASK = np.random.default_rng(3).uniform(size=(6, 6)) < 0.6
MASK[2] = False
CALLS = {
    "plain": {},
    "causal": {"is_causal": True},
    "scale": {"scale": 0.3},
    "bools": {"attn_mask": MASK},
    "floats": {"attn_mask": np.where(MASK, 0.5, -np.inf).astype(np.float32)},
    "groups": {"enable_gqa": True},
}


def inputs(groups):
    rng = np.random.default_rng(1)
    shapes = (SMALL, (2, 2, *SMALL[2:]), (2, 2, *SMALL[2:])) if groups else (SMALL,) * 3
    return [torch.tensor(rng.standard_normal(s).astype(np.float32)).bfloat16().requires_grad_() for s in shapes]


def first_and_second(options):
    given = inputs("enable_gqa" in options)
    options = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    z = attend(*given, **options)
    first = torch.autograd.grad((z.float() ** 2).sum(), given, create_graph=True)
    second = torch.autograd.grad(sum((g.float() ** 2).sum() for g in first), given)
    return [t.detach().float().numpy() for t in (z, *first, *second)]


@pytest.mark.parametrize("name", CALLS)
def test_cudnn_is_asked_and_all_derivatives_agree_with_the_formula(name, cudnn):
    got = first_and_second(CALLS[name])
    keys = (2, 6, 2 if name == "groups" else 4, 8)
    assert set(cudnn) == {("cudnn", "bfloat16", (2, 6, 4, 8), keys, "attn_mask" in CALLS[name], name == "causal")}
    count = len(cudnn)
    with sdpa_kernel(SDPBackend.MATH):
        want = first_and_second(CALLS[name])
    assert len(cudnn) == count
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0.05, atol=0.03 * np.abs(w).max())


def test_the_gradient_of_a_mask_of_floats(cudnn):
    q, k, v = inputs(False)
    mask = torch.zeros(6, 6, requires_grad=True)
    attend(q, k, v, mask).float().sum().backward()
    assert cudnn
    got, mask.grad = mask.grad.clone(), None
    with sdpa_kernel(SDPBackend.MATH):
        attend(q, k, v, mask).float().sum().backward()
    np.testing.assert_allclose(got.numpy(), mask.grad.numpy(), atol=0.02)


def test_levels_and_dropout_use_the_formula(cudnn):
    q = inputs(False)[0].detach()
    torch.vmap(lambda t: attend(t[None], t[None], t[None]))(q)
    torch.func.jvp(lambda t: attend(t, t, t), (q,), (q,))
    attend(q, q, q, dropout_p=0.5)
    attend(q.float(), q.float(), q.float())
    assert cudnn == []


UNSERVED = {
    "three dimensions": ("cuda", Shapes((4, 6, 8), (4, 6, 8), (4, 6, 8), None), "bfloat16", False),
    "float32 on cuDNN": ("cuda", Shapes(SMALL, SMALL, SMALL, None), "float32", False),
    "width of 6": ("cuda", Shapes((1, 1, 4, 6), (1, 1, 4, 6), (1, 1, 4, 6), None), "bfloat16", False),
    "values of another width": ("cuda", Shapes(SMALL, SMALL, (2, 4, 6, 16), None), "bfloat16", False),
    "causal, not square": ("cuda", Shapes(SMALL, (2, 4, 8, 8), (2, 4, 8, 8), None), "bfloat16", True),
    "a mask that doesn't fit": ("cuda", Shapes(SMALL, SMALL, SMALL, (5, 6)), "bfloat16", False),
    "float16 on a TPU": ("tpu", Shapes(WIDE, WIDE, WIDE, None), "float16", False),
    "no whole tiles": ("tpu", Shapes(SMALL, SMALL, SMALL, None), "float32", False),
}


@pytest.mark.parametrize("case", UNSERVED)
def test_what_a_kernel_can_not_do_is_left_to_the_formula(case):
    platform, shapes, dtype, causal = UNSERVED[case]
    assert not served(shapes, dtype, Plan(platform, causal, None, False))


def test_kernels_that_are_excluded(on):
    q = torch.ones(SMALL)
    for backend, message in ((SDPBackend.EFFICIENT_ATTENTION, "No viable backend"), (SDPBackend.CUDNN_ATTENTION, "No viable")):
        with sdpa_kernel(backend), pytest.raises(RuntimeError, match=message):
            attend(q, q, q)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        attend(q, q, q)
        for refused in (lambda: attend(q, q, q, dropout_p=0.5), lambda: attend(q[0], q[0], q[0])):
            with pytest.raises(RuntimeError, match="No available kernel"):
                refused()
    on("tpu")
    shapes = Shapes(WIDE, WIDE, WIDE, None)
    assert plan_of(shapes, "float32", False, False, None, False) == Plan("tpu", False, None, False)
    with sdpa_kernel(SDPBackend.MATH):
        assert plan_of(shapes, "float32", False, False, None, False) is None
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match="No available kernel"):
        plan_of(shapes, "float16", False, False, None, False)
