"""autocast on the CPU against PyTorch's: the types of results, values, gradients, nesting, and what is compiled or transformed."""

import warnings

import numpy as np
import pytest
import torch

import funtorch
from funtorch.core.casting import NAMES, POLICIES
from funtorch.ops import registry

BOTH = (torch, funtorch)
_rng = np.random.default_rng(0)
A, B = _rng.normal(size=(2, 3, 3, 3)).astype(np.float32)
V = _rng.normal(size=3).astype(np.float32)
IMAGE, KERNEL = _rng.normal(size=(1, 3, 6, 6)).astype(np.float32), _rng.normal(size=(2, 3, 3, 3)).astype(np.float32)


def _t(lib, array, dtype="float32"):
    return lib.tensor(array.tolist()).to(getattr(lib, dtype))


CALLS = {
    "mm": lambda t, d: t.mm(_t(t, A[0], d), _t(t, B[0], d)),
    "method matmul": lambda t, d: _t(t, A, d) @ _t(t, B, d),
    "bmm": lambda t, d: t.bmm(_t(t, A, d), _t(t, B, d)),
    "addmm": lambda t, d: t.addmm(_t(t, A[1], d), _t(t, A[0], d), _t(t, B[0], d)),
    "linear": lambda t, d: t.nn.functional.linear(_t(t, A[0], d), _t(t, B[0], d), _t(t, V, d)),
    "conv2d": lambda t, d: t.nn.functional.conv2d(_t(t, IMAGE, d), _t(t, KERNEL, d)),
    "conv_transpose2d": lambda t, d: t.nn.functional.conv_transpose2d(_t(t, IMAGE, d), _t(t, KERNEL.transpose(1, 0, 2, 3), d)),
    "attention": lambda t, d: t.nn.functional.scaled_dot_product_attention(*(_t(t, A, d) for _ in range(3))),
    "einsum": lambda t, d: t.einsum("ij,jk->ik", _t(t, A[0], d), _t(t, B[0], d)),
    "einsum of one": lambda t, d: t.einsum("ij->i", _t(t, A[0], d)),
    "einsum without sums": lambda t, d: t.einsum("i,i->i", _t(t, V, d), _t(t, V, d)),
    "tensordot": lambda t, d: t.tensordot(_t(t, A[0], d), _t(t, B[0], d), 1),
    "inner": lambda t, d: t.inner(_t(t, A[0], d), _t(t, B[0], d)),
    "multi_dot": lambda t, d: t.linalg.multi_dot([_t(t, A[0], d), _t(t, B[0], d)]),
    "matrix_power": lambda t, d: t.linalg.matrix_power(_t(t, A[0], d), 3),
    "inner of vectors": lambda t, d: t.inner(_t(t, V, d), _t(t, V, d)),
    "inner with a number": lambda t, d: t.inner(_t(t, V[0], d), _t(t, A[0], d)),
    "tensordot of everything": lambda t, d: t.tensordot(_t(t, A[0], d), _t(t, B[0], d), 2),
    "tensordot of vectors": lambda t, d: t.tensordot(_t(t, V, d), _t(t, V, d), 1),
    "tensordot with a vector": lambda t, d: t.tensordot(_t(t, A[0], d), _t(t, V, d), 1),
    "power 0": lambda t, d: t.linalg.matrix_power(_t(t, A[0], d), 0),
    "power 1": lambda t, d: t.linalg.matrix_power(_t(t, A[0], d), 1),
    "power -1": lambda t, d: t.linalg.matrix_power(_t(t, np.eye(3) * 2, d), -1),
    "power -2": lambda t, d: t.linalg.matrix_power(_t(t, np.eye(3) * 2, d), -2),
    "pinverse": lambda t, d: t.pinverse(_t(t, A[0], d)),
    "lu": lambda t, d: t.lu(_t(t, A[0], d))[0],
    "affine_grid": lambda t, d: t.nn.functional.affine_grid(
        _t(t, A[:1, :, :2].transpose(0, 2, 1), d), (1, 1, 2, 2), align_corners=False
    ),
    "max_unpool1d": lambda t, d: t.nn.functional.max_unpool1d(_t(t, A[:1, :, :1], d), t.zeros(1, 3, 1, dtype=t.int64), 2),
    "pad, reflect": lambda t, d: t.nn.functional.pad(_t(t, A, d), (1, 1), mode="reflect"),
    "pad, replicate": lambda t, d: t.nn.functional.pad(_t(t, IMAGE, d), (1, 1, 1, 1), mode="replicate"),
    "pad, circular": lambda t, d: t.nn.functional.pad(_t(t, IMAGE, d), (1, 1, 1, 1), mode="circular"),
    "pad, zeros": lambda t, d: t.nn.functional.pad(_t(t, IMAGE, d), (1, 1)),
    "interpolate, area": lambda t, d: t.nn.functional.interpolate(_t(t, IMAGE[None], d), scale_factor=0.5, mode="area"),
    "interpolate, area of images": lambda t, d: t.nn.functional.interpolate(_t(t, IMAGE, d), scale_factor=0.5, mode="area"),
    "interpolate, nearest": lambda t, d: t.nn.functional.interpolate(_t(t, IMAGE[None], d), scale_factor=2.0),
    "elementwise einsum of two types": lambda t, d: t.einsum("i,j->ij", _t(t, V, d), _t(t, V, "bfloat16")),
    "product in place": lambda t, d: _t(t, A[0], d).addmm_(_t(t, A[1], d), _t(t, B[0], d)),
    "prelu": lambda t, d: t.nn.functional.prelu(_t(t, V, d), _t(t, V[:1], d)),
    "mv": lambda t, d: t.mv(_t(t, A[0], d), _t(t, V, d)),
    "cosine_similarity": lambda t, d: t.cosine_similarity(_t(t, A[0], d), _t(t, B[0], d)),
    "add": lambda t, d: _t(t, A, d) + _t(t, B, d),
    "exp": lambda t, d: t.exp(_t(t, A, d)),
    "softmax": lambda t, d: t.softmax(_t(t, A, d), 1),
    "sum": lambda t, d: t.sum(_t(t, A, d)),
    "prod": lambda t, d: t.prod(_t(t, A, d)),
    "cdist": lambda t, d: t.cdist(_t(t, A, d), _t(t, B, d)),
    "trace": lambda t, d: t.trace(_t(t, A[0], d)),
    "inverse": lambda t, d: t.inverse(_t(t, A[0], d)),
    "svdvals": lambda t, d: t.linalg.svdvals(_t(t, A[0], d)),
    "mse_loss": lambda t, d: t.nn.functional.mse_loss(_t(t, A, d), _t(t, B, d)),
    "cross_entropy": lambda t, d: t.nn.functional.cross_entropy(_t(t, A[0], d), t.tensor([0, 1, 2])),
    "bce_with_logits": lambda t, d: t.nn.functional.binary_cross_entropy_with_logits(_t(t, A, d), _t(t, abs(B) % 1, d)),
    "layer_norm": lambda t, d: t.nn.functional.layer_norm(_t(t, A, d), (3,)),
    "fft": lambda t, d: t.fft.fft(_t(t, A, d)).real,
    "cat": lambda t, d: t.cat([_t(t, A, d), _t(t, B, "float32")]),
    "stack": lambda t, d: t.stack([_t(t, A, "float32"), _t(t, B, d)]),
    "quantile": lambda t, d: t.quantile(_t(t, A, d), 0.5),
    "in place": lambda t, d: _t(t, A[0], d).mul_(2),
    "max_pool3d": lambda t, d: t.nn.functional.max_pool3d(_t(t, A[None], d), 2),
    "avg_pool2d": lambda t, d: t.nn.functional.avg_pool2d(_t(t, IMAGE, d), 2),
}


@pytest.mark.filterwarnings("ignore:torch.lu is deprecated")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_result_types_and_values(name, dtype):
    results = []
    for lib in BOTH:
        with lib.autocast("cpu", dtype=lib.bfloat16):
            try:
                results.append(CALLS[name](lib, dtype))
            except RuntimeError as error:
                results.append(error)
    want, got = results
    if isinstance(want, RuntimeError):
        assert isinstance(got, RuntimeError)
        return
    assert str(got.dtype) == str(want.dtype)
    tolerance = 3e-2 if want.dtype == torch.bfloat16 else 1e-5
    np.testing.assert_allclose(got.double().numpy(), want.double().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "name", ["LSTM", "RNN", "LSTMCell", "GRUCell", "MultiheadAttention", "TransformerEncoderLayer", "Bilinear"]
)
def test_result_types_of_modules(name):
    sizes = {"MultiheadAttention": (4, 2), "TransformerEncoderLayer": (4, 2, 8), "Bilinear": (3, 3, 2)}.get(name, (3, 4))
    inputs = {"MultiheadAttention": 3, "Bilinear": 2}.get(name, 1)
    shape = (2, 3) if name.endswith("Cell") or name == "Bilinear" else (5, 2, sizes[0])
    kinds = []
    for lib in BOTH:
        with lib.autocast("cpu"):
            out = getattr(lib.nn, name)(*sizes)(*(lib.rand(shape) for _ in range(inputs)))
        kinds.append(str((out[0] if isinstance(out, tuple) else out).dtype))
    assert kinds[0] == kinds[1]


def test_every_listed_function_exists():
    known = {
        name if space in ("torch", "nn.functional") else f"{space}.{name}"
        for space in ("torch", "nn.functional", "linalg", "fft")
        for name in registry.names(space)
    }
    assert known >= {name.removesuffix(".input").removesuffix(".data") for name in NAMES}


def test_lists_of_an_accelerator_are_in_force_there(monkeypatch):
    monkeypatch.setattr("funtorch.core.casting._kind", lambda args: "gpu")
    monkeypatch.setattr("funtorch.cuda.is_available", lambda: True)
    x = funtorch.rand(2, 2)
    with funtorch.autocast("cuda"):
        assert (x @ x).dtype is funtorch.float16
        assert (x.half().exp().dtype, x.half().sum().dtype) == (funtorch.float32, funtorch.float32)
        assert funtorch.addcmul(x, x.half(), x.half()).dtype is funtorch.float32
        assert (x.half() + x.half()).dtype is funtorch.float16
    assert set(POLICIES["gpu"].values()) == {"lower", "float32", "widest"}


def _step(lib, enabled=True):
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(4, 8), lib.nn.ReLU(), lib.nn.Linear(8, 3))
    x, y = lib.tensor(_fixed).float(), lib.tensor([0, 1, 2, 1])
    with lib.autocast("cpu", enabled=enabled):
        out = model(x)
        loss = lib.nn.functional.cross_entropy(out, y)
    loss.backward()
    return out, loss, [p.grad for p in model.parameters()]


_fixed = _rng.normal(size=(4, 4)).tolist()


def test_a_training_step():
    want, got = (_step(lib) for lib in BOTH)
    assert str(got[0].dtype) == "torch.bfloat16" == str(want[0].dtype)
    assert got[1].dtype is funtorch.float32
    np.testing.assert_allclose(got[1].item(), want[1].item(), rtol=1e-2)
    for g, w in zip(got[2], want[2], strict=True):
        assert str(g.dtype) == str(w.dtype) == "torch.float32"
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=5e-2, atol=2e-3)


def test_nesting_and_what_is_asked():
    x = funtorch.rand(2, 2)
    assert not funtorch.is_autocast_enabled("cpu")
    with funtorch.autocast("cpu"):
        assert funtorch.is_autocast_enabled("cpu") and funtorch.get_autocast_dtype("cpu") is funtorch.bfloat16
        with funtorch.autocast("cpu", enabled=False):
            assert (x @ x).dtype is funtorch.float32
        with funtorch.autocast("cpu", dtype=funtorch.float16):
            assert (x @ x).dtype is funtorch.float16
        assert (x @ x).dtype is funtorch.bfloat16
    assert (x @ x).dtype is funtorch.float32
    assert not funtorch.core.casting.active


def test_a_region_that_fails_ends():
    with pytest.raises(ZeroDivisionError), funtorch.autocast("cpu"):
        raise ZeroDivisionError
    assert not funtorch.is_autocast_enabled("cpu") and not funtorch.core.casting.active


def test_a_decorated_function_may_call_itself():
    @funtorch.autocast("cpu")
    def power(x, n):
        return x if n == 1 else x @ power(x, n - 1)

    assert power(funtorch.eye(2), 3).dtype is funtorch.bfloat16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("cuda",), "CUDA is not available"), (("tpu",), "no such device"), (("cpu", torch.float32), "not supported")],
)
def test_what_is_not_possible_warns_and_is_off(arguments, message):
    if arguments[0] == "cuda" and funtorch.cuda.is_available():
        pytest.skip("there is a GPU")
    given = [funtorch.float32 if a is torch.float32 else a for a in arguments]
    with pytest.warns(UserWarning, match=message):
        region = funtorch.autocast(*given)
    with region:
        assert (funtorch.eye(2) @ funtorch.eye(2)).dtype is funtorch.float32


def test_wrong_kinds_of_device():
    for lib in BOTH:
        with pytest.raises(RuntimeError):
            lib.autocast("toaster")
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
            lib.autocast(0)
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
            lib.amp.custom_fwd(device_type=0)
        with pytest.raises(RuntimeError):
            lib.amp.is_autocast_available("toaster")
        assert lib.amp.is_autocast_available("cpu") and not lib.amp.is_autocast_available("meta")


@pytest.mark.parametrize("low", ["bfloat16", "float16"])
def test_cells_and_correlations_run_in_the_lower_type(low):
    found = []
    for lib in BOTH:
        x = lib.ones(4, 4)
        with lib.autocast("cpu", dtype=getattr(lib, low)):
            made = [lib.nn.RNNCell(4, 4)(x), lib.nn.RNNCell(4, 4, nonlinearity="relu")(x, x), lib.nn.LSTMCell(4, 4)(x)[0],
                    lib.nn.GRUCell(4, 4)(x), lib.corrcoef(x), lib.cov(x)]  # fmt: skip
        found.append([str(z.dtype).rpartition(".")[2] for z in made])
    assert found[0] == found[1]


def test_a_parameter_is_cast_once_and_again_when_written():
    w = funtorch.nn.Parameter(funtorch.ones(2, 2))
    with funtorch.autocast("cpu"):
        first, second = w @ w, w @ w
        assert first.grad_fn.next_functions[0][0] is second.grad_fn.next_functions[0][0]
        with funtorch.no_grad():
            w.mul_(2)
            assert not (w @ w).requires_grad
        assert (w @ w)[0, 0].item() == 8


def test_compiled_and_transformed():
    w = funtorch.randn(4, 4)

    def loss(x):
        with funtorch.autocast("cpu"):
            y = x @ w
            assert y.dtype is funtorch.bfloat16
        return funtorch.nn.functional.mse_loss(y, x.to(y.dtype)).float()

    xs = funtorch.randn(3, 5, 4)
    want = funtorch.stack([funtorch.func.grad(loss)(x) for x in xs])
    assert funtorch.allclose(funtorch.vmap(funtorch.func.grad(loss))(xs), want, rtol=3e-2, atol=1e-2)
    compiled = funtorch.compile(loss)
    for x in xs:
        assert funtorch.allclose(compiled(x), loss(x), rtol=2e-2)
    plain = funtorch.compile(lambda x: x @ w)
    types = []
    for _ in range(4):
        types.append(plain(xs[0]).dtype)
        with funtorch.autocast("cpu"):
            types.append(plain(xs[0]).dtype)
    assert types == [funtorch.float32, funtorch.bfloat16] * 4


def test_checkpoint_runs_again_with_the_same_casts():
    layer = funtorch.nn.Linear(3, 3)
    seen = []

    def part(x):
        y = layer(x)
        seen.append(y.dtype)
        return y.float().exp()

    x = funtorch.rand(2, 3, requires_grad=True)
    with funtorch.autocast("cpu"):
        y = funtorch.utils.checkpoint.checkpoint(part, x, use_reentrant=False)
    y.sum().backward()
    assert seen == [funtorch.bfloat16] * 2


@pytest.mark.parametrize("cast", [False, True])
def test_custom_functions(cast):
    seen = []
    options = {"device_type": "cpu"} | ({"cast_inputs": funtorch.float32} if cast else {})

    class Product(funtorch.autograd.Function):
        @staticmethod
        @funtorch.amp.custom_fwd(**options)
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            z = x @ y
            seen.append(z.dtype)
            return z

        @staticmethod
        @funtorch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            seen.append((g.float() @ y.float().t()).dtype)
            return g.float() @ y.float().t(), x.float().t() @ g.float()

    x = funtorch.rand(2, 2, requires_grad=True)
    with funtorch.autocast("cpu"):
        z = Product.apply(x, x)
    z.float().sum().backward()
    assert seen == [funtorch.float32 if cast else funtorch.bfloat16] * 2


def test_older_names():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with funtorch.cuda.amp.autocast():
            pass
        assert not funtorch.cuda.amp.GradScaler().is_enabled() or funtorch.cuda.is_available()
    funtorch.set_autocast_enabled("cpu", True)
    try:
        funtorch.set_autocast_dtype("cpu", funtorch.float16)
        assert (funtorch.eye(2) @ funtorch.eye(2)).dtype is funtorch.float16
    finally:
        funtorch.set_autocast_dtype("cpu", funtorch.bfloat16)
        funtorch.set_autocast_enabled("cpu", False)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("state", [None, "float32", "bfloat16"])
def test_recurrent_layers_take_what_a_layer_before_them_made(name, packed, state):
    kinds = []
    for lib in BOTH:
        layer, x = getattr(lib.nn, name)(3, 4), lib.rand(3, 2, 3).bfloat16()
        h = None if state is None else lib.rand(1, 2, 4).to(getattr(lib, state))
        data = lib.nn.utils.rnn.pack_padded_sequence(x, [3, 2]) if packed else x
        with lib.autocast("cpu"):
            out, last = layer(data, (h, h) if name == "LSTM" and h is not None else h)
        kinds.append([str(t.dtype) for t in (out.data if packed else out, *(last if name == "LSTM" else (last,)))])
    assert kinds[0] == kinds[1]


def test_in_place_products_are_not_cast():
    x = funtorch.rand(3, 3)
    with funtorch.autocast("cpu"):
        written = x.clone().addmm_(x, x)
        with pytest.raises(RuntimeError):
            x.bfloat16().addmm_(x, x)
    assert funtorch.allclose(written, x + x @ x, rtol=1e-6)


def test_results_that_are_given_are_not_cast():
    x, out = funtorch.rand(2, 2), funtorch.empty(2, 2)
    with funtorch.autocast("cpu"):
        funtorch.mm(x, x, out=out)
        funtorch.linalg.multi_dot([x, x, x], out=funtorch.empty(2, 2))
    assert funtorch.equal(out, x @ x)
