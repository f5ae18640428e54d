"""Parametrizations, the older normalisations by hooks, pruning, fusion, modules without drawn parameters, stateless calls."""

import copy
import importlib

import numpy as np
import pytest
import torch

import funtorch

importlib.import_module("torch.nn.utils.prune")
importlib.import_module("torch.nn.utils.fusion")

pytestmark = pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")


def parts(kit):
    """Parametrizations of either library."""
    nn = kit.nn

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    class Halves(nn.Module):
        """The sum of two tensors."""

        def forward(self, a, b):
            return a + b

        def right_inverse(self, x):
            return x / 2, x / 2

    class Double(nn.Module):
        def forward(self, x):
            return 2 * x

    class Shorter(nn.Module):
        def forward(self, x):
            return x[:1]

    class Wider(nn.Module):
        def forward(self, x):
            return x.double()

    class Number(nn.Module):
        def forward(self, x):
            return 1.0

    return {c.__name__: c for c in (Symmetric, Halves, Double, Shorter, Wider, Number)}


def parametrized(kit, *names, **options):
    kit.lib.manual_seed(0)
    layer = kit.nn.Linear(3, 3)
    for name in names:
        kit.nn.utils.parametrize.register_parametrization(layer, "weight", parts(kit)[name](), **options)
    return layer


CHAINS = [("Symmetric",), ("Double",), ("Halves",), ("Symmetric", "Double"), ("Halves", "Symmetric")]


@pytest.mark.parametrize("names", CHAINS)
def test_a_parametrized_layer(names, alike):
    def used(kit):
        parametrize = kit.nn.utils.parametrize
        layer = parametrized(kit, *names)
        result = layer(kit.lib.ones(2, 3))
        (result**2).sum().backward()
        text = repr(layer), type(layer).__name__, list(layer.state_dict()), parametrize.is_parametrized(layer, "weight")
        return (
            text,
            layer.weight,
            result,
            [p.grad for p in layer.parameters()],
            parametrize.type_before_parametrizations(layer).__name__,
        )

    alike(used)


@pytest.mark.parametrize("names", [("Symmetric",), ("Halves",)])
def test_assignment_goes_through_the_inverse(names, alike):
    def assigned(kit):
        layer = parametrized(kit, *names)
        layer.weight = kit.lib.ones(3, 3)
        return layer.weight, layer.state_dict()

    alike(assigned)


@pytest.mark.parametrize("leave", [True, False])
@pytest.mark.parametrize("names", CHAINS)
def test_removal(names, leave, alike):
    def removed(kit):
        layer = parametrized(kit, *names)
        kit.nn.utils.parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
        return repr(layer), type(layer).__name__, layer.state_dict(), kit.nn.utils.parametrize.is_parametrized(layer)

    alike(removed)


def test_the_original_stays_the_same_parameter():
    layer = funtorch.nn.Linear(3, 3)
    weight, register = layer.weight, funtorch.nn.utils.parametrize.register_parametrization
    register(layer, "weight", parts(KIT)["Symmetric"]())
    assert layer.parametrizations.weight.original is weight
    funtorch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is weight and type(layer) is funtorch.nn.Linear


class KIT:
    nn = funtorch.nn


def test_values_are_kept_while_cached():
    layer, cached = parametrized(kit_of(funtorch), "Double"), funtorch.nn.utils.parametrize.cached
    assert layer.weight is not layer.weight
    with cached():
        first = layer.weight
        with cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def kit_of(lib):
    return type("Kit", (), {"lib": lib, "nn": lib.nn})


def test_copies_and_saving():
    layer = parametrized(kit_of(funtorch), "Symmetric")
    other = copy.deepcopy(layer)
    assert funtorch.equal(other.weight, layer.weight)
    with funtorch.no_grad():
        other.parametrizations.weight.original.zero_()
    assert layer.weight.abs().sum() > 0
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        layer.__getstate__()


def test_transfer(alike):
    def transferred(kit):
        layer, other = parametrized(kit, "Symmetric"), kit.nn.Linear(3, 3)
        kit.nn.utils.parametrize.transfer_parametrizations_and_params(layer, other)
        shared = other.parametrizations.weight.original is layer.parametrizations.weight.original
        return shared, other.weight, list(other.state_dict())

    alike(transferred)


def test_a_parametrized_weight_is_differentiated_forward_too():
    layer = parametrized(kit_of(funtorch), "Symmetric").double()
    x = funtorch.randn(3, dtype=funtorch.float64)
    np.testing.assert_allclose(funtorch.func.jacfwd(layer)(x).detach().numpy(), layer.weight.detach().numpy())


WRONG = [
    lambda kit: parametrized(kit, "Shorter"),
    lambda kit: parametrized(kit, "Wider"),
    lambda kit: parametrized(kit, "Number"),
    lambda kit: parametrized(kit, "Symmetric", "Shorter"),
    lambda kit: parametrized(kit, "Symmetric", "Wider"),
    lambda kit: kit.nn.utils.parametrize.register_parametrization(kit.nn.Linear(2, 2), "other", parts(kit)["Double"]()),
    lambda kit: kit.nn.utils.parametrize.remove_parametrizations(kit.nn.Linear(2, 2), "weight"),
    lambda kit: kit.nn.utils.parametrize.ParametrizationList([], kit.lib.zeros(2)),
    lambda kit: setattr(parametrized(kit, "Double"), "weight", kit.lib.zeros(3, 3)),
    lambda kit: kit.nn.utils.parametrizations.spectral_norm(kit.nn.Linear(2, 2), n_power_iterations=0),
    lambda kit: kit.nn.utils.parametrizations.spectral_norm(kit.nn.Linear(2, 2), dim=2),
    lambda kit: kit.nn.utils.parametrizations.spectral_norm(kit.nn.Linear(2, 2), "other"),
    lambda kit: kit.nn.utils.parametrizations.orthogonal(kit.nn.Linear(2, 2), "bias"),
    lambda kit: kit.nn.utils.parametrizations.orthogonal(kit.nn.Linear(2, 2), orthogonal_map="other"),
    lambda kit: kit.nn.utils.weight_norm(kit.nn.utils.weight_norm(kit.nn.Linear(2, 2))),
    lambda kit: kit.nn.utils.weight_norm(kit.nn.LazyLinear(2)),
    lambda kit: kit.nn.utils.remove_weight_norm(kit.nn.Linear(2, 2)),
    lambda kit: kit.nn.utils.spectral_norm(kit.nn.utils.spectral_norm(kit.nn.Linear(2, 2))),
    lambda kit: kit.nn.utils.spectral_norm(kit.nn.Linear(2, 2, bias=False), "bias"),
    lambda kit: kit.nn.utils.remove_spectral_norm(kit.nn.Linear(2, 2)),
    lambda kit: kit.nn.utils.prune.l1_unstructured(kit.nn.Linear(2, 2), "weight", 1.5),
    lambda kit: kit.nn.utils.prune.l1_unstructured(kit.nn.Linear(2, 2), "weight", 5),
    lambda kit: kit.nn.utils.prune.l1_unstructured(kit.nn.Linear(2, 2), "weight", "all"),
    lambda kit: kit.nn.utils.prune.ln_structured(kit.nn.Linear(2, 2), "bias", 1, 2, 0),
    lambda kit: kit.nn.utils.prune.remove(kit.nn.Linear(2, 2), "weight"),
    lambda kit: kit.nn.utils.fusion.fuse_conv_bn_eval(kit.nn.Conv1d(1, 1, 1), kit.nn.BatchNorm1d(1)),
    lambda kit: kit.nn.utils.fusion.fuse_linear_bn_eval(kit.nn.Linear(2, 2).eval(), kit.nn.BatchNorm1d(3).eval()),
    lambda kit: kit.nn.utils.skip_init(int),
    lambda kit: kit.nn.utils.skip_init(kit.nn.ReLU),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong), Exception)


# Ready parametrizations, and the older hooks


def trained(kit, normalise, made="Linear(3, 4)", shape=(2, 3)):
    """A normalised layer after one step of gradient descent, and its results before and after."""
    kit.lib.manual_seed(0)
    layer = normalise(eval(f"nn.{made}", {"nn": kit.nn})).double()
    x = kit.lib.randn(shape).double()
    first = layer(x)
    (first**2).sum().backward()
    grads = [p.grad for p in layer.parameters()]
    with kit.lib.no_grad():
        for p in layer.parameters():
            p -= 0.01 * p.grad
    return list(layer.state_dict()), first, grads, layer(x), layer.eval()(x), layer.state_dict()


NORMALISATIONS = [
    ("parametrizations.weight_norm(m)", "Linear(3, 4)", (2, 3)),
    ("parametrizations.weight_norm(m, dim=None)", "Linear(3, 4)", (2, 3)),
    ("parametrizations.weight_norm(m, dim=1)", "Conv1d(3, 4, 2)", (2, 3, 3)),
    ("parametrizations.spectral_norm(m)", "Linear(3, 4)", (2, 3)),
    ("parametrizations.spectral_norm(m, n_power_iterations=3)", "ConvTranspose1d(3, 4, 2)", (2, 3, 3)),
    ("parametrizations.spectral_norm(m, 'bias')", "Linear(3, 4)", (2, 3)),
    ("weight_norm(m)", "Linear(3, 4)", (2, 3)),
    ("weight_norm(m, dim=None)", "Conv1d(3, 4, 2)", (2, 3, 3)),
    ("spectral_norm(m)", "Linear(3, 4)", (2, 3)),
    ("spectral_norm(m, n_power_iterations=2)", "ConvTranspose1d(3, 4, 2)", (2, 3, 3)),
]


@pytest.mark.parametrize(("call", "made", "shape"), NORMALISATIONS)
def test_normalisations_are_torch_s(call, made, shape, alike):
    def normalise(kit):
        return lambda m: eval(call, {"m": m, **vars(kit.nn.utils)})

    alike(lambda kit: trained(kit, normalise(kit), made, shape))


@pytest.mark.parametrize("remove", ["remove_weight_norm(weight_norm(m))", "remove_spectral_norm(spectral_norm(m))"])
def test_hooks_can_be_taken_back(remove, alike):
    def taken_back(kit):
        kit.lib.manual_seed(0)
        layer = eval(remove, {"m": kit.nn.Linear(3, 4), **vars(kit.nn.utils)})
        return layer.state_dict(), layer(kit.lib.ones(2, 3)), len(layer._forward_pre_hooks)

    alike(taken_back)


def test_what_the_older_weight_norm_saved_can_be_loaded(alike):
    def loaded(kit):
        kit.lib.manual_seed(0)
        old, new = kit.nn.utils.weight_norm(kit.nn.Linear(3, 4)), kit.nn.utils.parametrizations.weight_norm(kit.nn.Linear(3, 4))
        new.load_state_dict(old.state_dict())
        return new.state_dict()

    alike(loaded)


def test_state_dicts_of_spectral_norm_without_v(alike):
    def loaded(kit):
        kit.lib.manual_seed(0)
        layer = kit.nn.utils.spectral_norm(kit.nn.Linear(4, 3)).double()
        for _ in range(3):
            layer(kit.lib.ones(1, 4).double())
        old = dict(layer.state_dict())
        old["weight"] = layer.weight.detach()
        del old["weight_v"]
        layer.load_state_dict(old)
        return layer.state_dict()

    alike(loaded)


ORTHOGONAL = [(shape, which) for shape in ((3, 3), (2, 4), (4, 2)) for which in ("matrix_exp", "cayley", "householder")]


@pytest.mark.parametrize("trivialized", [True, False])
@pytest.mark.parametrize(("shape", "which"), ORTHOGONAL)
def test_orthogonal_weights(shape, which, trivialized, alike):
    def orthogonal(kit):
        kit.lib.manual_seed(0)
        layer = kit.nn.Linear(*shape).double()
        kit.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=which, use_trivialization=trivialized)
        first = layer.weight
        (first**3).sum().backward()
        return first, list(layer.state_dict()), layer.parametrizations.weight.original.grad

    alike(orthogonal)
    layer = funtorch.nn.Linear(*shape).double()
    funtorch.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=which, use_trivialization=trivialized)
    w = layer.weight.detach().numpy()
    np.testing.assert_allclose(w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T, np.eye(min(w.shape)), atol=1e-10)


# Pruning

PRUNED = [
    "prune.identity(m, 'weight')",
    "prune.l1_unstructured(m, 'weight', 0.3)",
    "prune.l1_unstructured(m, 'weight', 5, importance_scores=-m.weight.abs())",
    "prune.random_unstructured(m, 'bias', 2)",
    "prune.random_structured(m, 'weight', 1, dim=1)",
    "prune.ln_structured(m, 'weight', 0.5, n=1, dim=0)",
    "prune.custom_from_mask(m, 'bias', m.bias > 0)",
    "prune.ln_structured(prune.l1_unstructured(m, 'weight', 3), 'weight', 1, n=2, dim=0)",
    "prune.l1_unstructured(prune.random_structured(prune.identity(m, 'weight'), 'weight', 1, dim=0), 'weight', 2)",
]


@pytest.mark.parametrize("call", PRUNED)
def test_pruning_is_torch_s(call, alike):
    def pruned(kit):
        kit.lib.manual_seed(0)
        layer = eval(call, {"m": kit.nn.Linear(3, 4), "prune": kit.nn.utils.prune})
        result = layer(kit.lib.ones(2, 3))
        result.sum().backward()
        state = (
            {k: v.clone() for k, v in layer.state_dict().items()},
            [p.grad for p in layer.parameters()],
            kit.nn.utils.prune.is_pruned(layer),
        )
        name = next(iter(layer._buffers)).removesuffix("_mask")
        kit.nn.utils.prune.remove(layer, name)
        return state, result, layer.state_dict(), len(layer._forward_pre_hooks)

    alike(pruned)


def test_pruning_several_parameters_as_one(alike):
    def pruned(kit):
        kit.lib.manual_seed(0)
        first, second = kit.nn.Linear(3, 4), kit.nn.Linear(4, 2)
        pairs = [(first, "weight"), (second, "weight")]
        prune = kit.nn.utils.prune
        prune.global_unstructured(pairs, prune.L1Unstructured, amount=7)
        prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.2)
        return first.state_dict(), second.state_dict()

    alike(pruned)


def test_a_failed_pruning_leaves_the_module_as_it_was():
    layer = funtorch.nn.Linear(3, 4)
    with pytest.raises(ValueError, match="amount=13 should be smaller"):
        funtorch.nn.utils.prune.l1_unstructured(layer, "weight", 13)
    assert list(layer.state_dict()) == ["weight", "bias"]


# Fusion, skip_init, stateless


@pytest.mark.parametrize(
    ("layer", "norm", "shape", "fuse"),
    [
        ("Conv2d(2, 3, 2)", "BatchNorm2d(3)", (2, 2, 4, 4), "fuse_conv_bn_eval"),
        ("Conv1d(2, 3, 2, bias=False)", "BatchNorm1d(3, affine=False)", (2, 2, 4), "fuse_conv_bn_eval"),
        ("ConvTranspose1d(2, 3, 2)", "BatchNorm1d(3)", (2, 2, 4), "fuse_conv_bn_eval"),
        ("Linear(2, 3)", "BatchNorm1d(3)", (4, 2), "fuse_linear_bn_eval"),
    ],
)
def test_fused_layers(layer, norm, shape, fuse, alike):
    def fused(kit):
        kit.lib.manual_seed(0)
        first, second = (eval(f"nn.{made}", {"nn": kit.nn}).double().eval() for made in (layer, norm))
        second.running_mean.normal_()
        second.running_var.uniform_(0.5, 2.0)
        options = (True,) if "Transpose" in layer else ()
        both, x = getattr(kit.nn.utils.fusion, fuse)(first, second, *options), kit.lib.randn(shape).double()
        assert kit.lib.allclose(both(x), second(first(x)))
        return both(x), both.state_dict()

    alike(fused)


def test_skip_init_draws_nothing():
    funtorch.manual_seed(0)
    expected = funtorch.rand(1)
    funtorch.manual_seed(0)
    layer = funtorch.nn.utils.skip_init(funtorch.nn.Linear, 3, 4, bias=False)
    assert layer.weight.shape == (4, 3) and layer.weight.device.type == "cpu"
    assert funtorch.equal(funtorch.rand(1), expected)


def test_the_older_functional_call():
    layer, zero = funtorch.nn.Linear(3, 2), funtorch.zeros(2, 3)
    with pytest.warns(FutureWarning, match="deprecated since PyTorch 2.0"):
        z = funtorch.nn.utils.stateless.functional_call(layer, {"weight": zero}, funtorch.ones(3))
    assert funtorch.equal(z, layer.bias)


CALLS = {
    "an attribute for the call": lambda f, m, one: (f(m, {"q": one}, one), hasattr(m, "q")),
    "below": lambda f, m, one: (f(m, {"linear.q": one}, one), hasattr(m.linear, "q")),
    "a plain Tensor": lambda f, m, one: (f(m, {"plain": one * 5}, one), m.plain),
    "a path to nothing": lambda f, m, one: f(m, {"z.q": one}, one),
    "no name": lambda f, m, one: f(m, {"": one}, one),
    "what is no Tensor": lambda f, m, one: f(m, {"linear": one}, one),
    "no Tensor": lambda f, m, one: f(m, {"linear.bias": 3}, one),
    "strict": lambda f, m, one: f(m, {"linear.weight": one, "q": one}, one, strict=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_functional_call_takes_names_as_torch_does(name):
    def run(t):
        class Scaled(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.plain = t.nn.Linear(1, 1), t.ones(1)

            def forward(self, x):
                return self.linear(x) * self.plain + getattr(self, "q", 0) + getattr(self.linear, "q", 0)

        t.manual_seed(0)
        try:
            return str(CALLS[name](t.func.functional_call, Scaled(), t.ones(1))).replace("LinearBackward", "")
        except Exception as error:
            return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")

    assert run(funtorch) == run(torch)


@pytest.mark.parametrize("dims", [2, 3])
def test_convolutions_in_another_memory_format(dims):
    format, layer = (("channels_last", "Conv2d"), ("channels_last_3d", "ConvTranspose3d"))[dims - 2]
    convert = getattr(funtorch.nn.utils, f"convert_conv{dims}d_weight_memory_format")
    model = funtorch.nn.Sequential(getattr(funtorch.nn, layer)(2, 3, 2), funtorch.nn.Linear(2, 2))
    before = {name: t.clone() for name, t in model.state_dict().items()}
    assert convert(model, getattr(funtorch, format)) is model
    assert all(funtorch.equal(t, before[name]) for name, t in model.state_dict().items())


def test_the_older_spectral_norm_takes_a_vector():
    found = []
    for t in (torch, funtorch):
        t.manual_seed(0)
        layer = t.nn.utils.spectral_norm(t.nn.Linear(3, 2), "bias")
        found.append(layer(t.ones(3)).tolist())
    assert found[0] == pytest.approx(found[1])


def test_utils_has_torch_s_names():
    names = {n for n in vars(torch.nn.utils) if not n.startswith("_")}
    assert [n for n in sorted(names) if not hasattr(funtorch.nn.utils, n)] == []


@pytest.mark.parametrize("normalised", [funtorch.nn.utils.parametrizations.spectral_norm, funtorch.nn.utils.spectral_norm])
def test_forward_and_reverse_mode_agree_about_the_power_iteration(normalised):
    funtorch.manual_seed(0)
    layer = normalised(funtorch.nn.Linear(3, 2).double())
    parameters = {k: p.detach() for k, p in layer.named_parameters()}
    buffers = {k: b.clone() for k, b in layer.named_buffers()}
    x = funtorch.tensor(np.random.default_rng(1).normal(size=(4, 3)))

    def loss(weights):
        moved = {k: b.clone() for k, b in buffers.items()}
        return (funtorch.func.functional_call(layer, (weights, moved), (x,)) ** 3).sum()

    dots = {k: p.cos() for k, p in parameters.items()}
    slopes = funtorch.func.grad(loss)(parameters)
    assert funtorch.allclose(funtorch.func.jvp(loss, (parameters,), (dots,))[1], sum((slopes[k] * dots[k]).sum() for k in dots))
    pushed = funtorch.func.jvp(funtorch.func.grad(loss), (parameters,), (dots,))[1]
    pulled = funtorch.func.grad(lambda w: sum((g * dots[k]).sum() for k, g in funtorch.func.grad(loss)(w).items()))(parameters)
    assert all(funtorch.allclose(pushed[k], pulled[k]) for k in dots)
