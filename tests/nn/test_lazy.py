"""Lazy modules, and the adaptive softmax."""

import copy

import pytest

import funtorch

LAZY = {
    "LazyLinear(2)": (4, 3),
    "LazyLinear(2, bias=False)": (3,),
    "LazyConv1d(2, 3)": (2, 3, 5),
    "LazyConv2d(4, 2, groups=2, padding=1, bias=False)": (1, 2, 3, 3),
    "LazyConv3d(2, 1)": (3, 2, 2, 2),
    "LazyConvTranspose1d(4, 2, 2, groups=2)": (1, 2, 3),
    "LazyConvTranspose2d(2, 2, output_padding=0)": (1, 3, 2, 2),
    "LazyConvTranspose3d(2, 1, bias=False)": (1, 3, 2, 2, 2),
    "LazyBatchNorm1d()": (4, 3),
    "LazyBatchNorm2d(affine=False)": (2, 3, 2, 2),
    "LazyBatchNorm3d(track_running_stats=False)": (2, 3, 2, 2, 2),
    "LazyInstanceNorm1d()": (2, 3, 4),
    "LazyInstanceNorm2d(affine=False, track_running_stats=False)": (2, 3, 2, 2),
    "LazyInstanceNorm3d(bias=False)": (2, 3, 2, 2, 2),
}


@pytest.mark.parametrize("made", LAZY)
def test_the_first_call_makes_the_module(made, alike):
    def called(kit):
        kit.lib.manual_seed(0)
        layer = eval(f"nn.{made}", {"nn": kit.nn}).double()
        before, keys, waiting = repr(layer), list(layer.state_dict()), layer.has_uninitialized_params()
        x = kit.lib.randn(LAZY[made]).double()
        results = [layer(x), layer(x)]
        return before, keys, waiting, results, repr(layer), type(layer).__name__, layer.state_dict()

    alike(called)


def test_a_lazy_module_takes_the_shapes_that_it_loads(alike):
    def loaded(kit):
        kit.lib.manual_seed(0)
        full, lazy = kit.nn.Linear(3, 2), kit.nn.LazyLinear(2)
        lazy.load_state_dict(full.state_dict())
        x = kit.lib.randn(4, 3)
        return lazy(x), full(x), type(lazy).__name__, lazy.in_features

    alike(loaded)


def test_a_lazy_state_dict_can_be_loaded_by_a_lazy_module():
    lazy = funtorch.nn.LazyLinear(2)
    lazy.load_state_dict(funtorch.nn.LazyLinear(2).state_dict())
    assert lazy.has_uninitialized_params()


def test_copies_before_the_first_call_wait_for_one_of_their_own():
    first = funtorch.nn.Sequential(funtorch.nn.LazyConv1d(2, 3), funtorch.nn.LazyBatchNorm1d()).double()
    second = copy.deepcopy(first)
    first(funtorch.randn(2, 3, 5, dtype=funtorch.float64))
    assert second[0].has_uninitialized_params() and type(second[1]) is funtorch.nn.LazyBatchNorm1d
    second(funtorch.randn(2, 4, 5, dtype=funtorch.float64))
    assert second[0].weight.shape == (2, 4, 3) and second[1].running_mean.dtype == funtorch.float64


WRONG = [
    lambda kit: kit.nn.LazyLinear(2).weight.shape,
    lambda kit: kit.nn.LazyConv2d(2, 3)(kit.lib.zeros(2, 3)),
    lambda kit: kit.nn.LazyConv1d(2, 3, groups=2)(kit.lib.zeros(1, 3, 5)),
    lambda kit: kit.nn.LazyBatchNorm1d()(kit.lib.zeros(2, 3, 4, 5)),
    lambda kit: kit.nn.Linear(3, 2).load_state_dict(kit.nn.LazyLinear(2).state_dict()),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_use_raises_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong, text=False), Exception)


def test_a_subclass_must_say_how_to_make_its_parameters():
    class Scale(funtorch.nn.modules.lazy.LazyModuleMixin, funtorch.nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Scale"):
        Scale()(1)


ADAPTIVE = ["AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0)", "AdaptiveLogSoftmaxWithLoss(8, 9, [3], head_bias=True)"]


@pytest.mark.parametrize("made", ADAPTIVE)
@pytest.mark.parametrize("targets", [[0, 3, 4, 8, 2], [0, 1, 2, 1, 0], 5])
def test_the_adaptive_softmax_is_torch_s(made, targets, alike):
    def called(kit):
        kit.lib.manual_seed(0)
        layer = eval(f"nn.{made}", {"nn": kit.nn})
        x = kit.lib.randn((8,) if isinstance(targets, int) else (5, 8)).double().requires_grad_()
        output, loss = layer.double()(x, kit.tensor(targets))
        loss.backward()
        rows = x if x.dim() == 2 else x[None]
        grads = [x.grad, *(p.grad for p in layer.parameters())]
        return repr(layer), layer.state_dict(), output, loss, grads, layer.log_prob(rows), layer.predict(rows * 9)

    alike(called)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, []),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 20]),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 5]),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])(kit.lib.zeros(2, 8), kit.tensor([1])),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])(kit.lib.zeros(2, 8), kit.tensor([1, 20])),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])(kit.lib.zeros(2, 8), kit.tensor([[1], [2]])),
        lambda kit: kit.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])(kit.lib.zeros(2, 8), kit.tensor(1)),
    ],
)
def test_wrong_arguments_of_the_adaptive_softmax(wrong, alike):
    assert issubclass(alike(wrong), Exception)
