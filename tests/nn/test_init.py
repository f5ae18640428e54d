"""nn.init: PyTorch's numbers for the same seed, and its errors."""

import pytest

import funtorch

FILLS = {
    "uniform_": [(), (-1.0, 2.0)], "normal_": [(), (1.0, 0.1)], "trunc_normal_": [(), (0.5, 2.0, -1.0, 1.0)],
    "constant_": [(0.3,)], "ones_": [()], "zeros_": [()], "eye_": [()], "xavier_uniform_": [(), (2.0,)],
    "xavier_normal_": [()], "kaiming_uniform_": [(), (0.2, "fan_out")], "kaiming_normal_": [(0, "fan_in", "relu")],
    "orthogonal_": [(), (2.0,)], "sparse_": [(0.4,)],
}  # fmt: skip


@pytest.mark.parametrize("name, args", [(name, args) for name, forms in FILLS.items() for args in forms])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_numbers_are_torch_s(name, args, shape, alike):
    def run(kit):
        kit.lib.manual_seed(7)
        parameter = kit.P(kit.lib.empty(shape))
        made = getattr(kit.nn.init, name)(parameter, *args)
        return made is parameter, parameter, parameter.is_leaf

    alike(run)


@pytest.mark.parametrize("shape, groups", [((3, 2, 3), 1), ((4, 2, 3, 3), 2), ((2, 2, 1, 2, 3), 1)])
def test_dirac_is_torch_s(shape, groups, alike):
    alike(lambda kit: kit.nn.init.dirac_(kit.lib.empty(shape), groups))


def test_a_generator_of_one_s_own_is_used(alike):
    alike(lambda kit: kit.nn.init.normal_(kit.lib.empty(3), generator=kit.lib.Generator().manual_seed(3)))


def test_filters_have_fans_of_their_field(alike):
    alike(lambda kit: kit.nn.init._calculate_fan_in_and_fan_out(kit.lib.empty(4, 3, 2, 5)))
    alike(lambda kit: [kit.nn.init.calculate_gain(n) for n in ("linear", "tanh", "relu", "selu", "leaky_relu", "conv2d")])


def test_old_names_warn():
    with pytest.warns(FutureWarning, match="now deprecated in favor of `nn.init.ones_`|`nn.init.constant_`"):
        funtorch.nn.init.constant(funtorch.empty(2), 1.0)


WRONG = [
    lambda kit: kit.nn.init.calculate_gain("sin"),
    lambda kit: kit.nn.init.eye_(kit.lib.empty(3)),
    lambda kit: kit.nn.init.xavier_uniform_(kit.lib.empty(3)),
    lambda kit: kit.nn.init.kaiming_uniform_(kit.lib.empty(3, 2), mode="fan"),
    lambda kit: kit.nn.init.orthogonal_(kit.lib.empty(3)),
    lambda kit: kit.nn.init.dirac_(kit.lib.empty(3, 2)),
    lambda kit: kit.nn.init.sparse_(kit.lib.empty(3), 0.1),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong, text=False), Exception)
