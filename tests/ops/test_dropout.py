"""Dropout: PyTorch's own zeros for the same seed, and its errors."""

import numpy as np
import pytest

import funtorch as torch

X = np.linspace(-2, 2, 24).reshape(2, 3, 4)
FORMS = ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d"]


def seeded(name, *args, **named):
    def run(t, x):
        t.manual_seed(5)
        return getattr(t.nn.functional, name)(x, *args, **named)

    return run


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("p", [0.3, 1.0])
def test_zeros_and_scale_are_torch_s(name, p, agree):
    agree(seeded(name, p, training=True), X)


@pytest.mark.parametrize("name, rank", [("dropout2d", 4), ("dropout3d", 4), ("dropout3d", 5)])
def test_channels_are_dropped_as_in_torch(name, rank, agree):
    agree(seeded(name, 0.4), X.reshape((2, 3, 2, 2) + (1,) * (rank - 4)))


def test_torch_s_own_forms_agree(agree):
    def run(t, x):
        t.manual_seed(1)
        return t.dropout(x, 0.5, True), t.feature_dropout(x, 0.5, True), t.alpha_dropout(x, 0.5, True)

    agree(run, X)


@pytest.mark.parametrize("name", FORMS)
def test_evaluation_mode_changes_nothing(name):
    x = torch.tensor(X)
    assert torch.equal(getattr(torch.nn.functional, name)(x, 0.5, training=False), x)


def test_inplace_changes_the_input():
    torch.manual_seed(0)
    x = torch.ones(100)
    z = torch.nn.functional.dropout(x, 0.5, inplace=True)
    assert z is x and set(x.tolist()) == {0.0, 2.0}


def test_lanes_of_vmap_draw_their_own_zeros():
    x = torch.ones(4, 50)
    z = torch.vmap(lambda row: torch.nn.functional.dropout(row, 0.5), randomness="different")(x)
    assert len({tuple(row) for row in z.tolist()}) == 4
    with pytest.raises(RuntimeError, match="randomness"):
        torch.vmap(torch.nn.functional.dropout)(x)


REFUSED = [
    lambda t: t.nn.functional.dropout(t.zeros(3), 1.5),
    lambda t: t.nn.functional.dropout(t.tensor([1]), 0.5),
    lambda t: t.nn.functional.alpha_dropout(t.zeros(3), -1),
    lambda t: t.nn.functional.dropout1d(t.zeros(3)),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)


@pytest.mark.parametrize("p, train", [(0.3, True), (0.3, False), (0.0, True), (1.0, True)])
def test_the_mask_comes_along(p, train, agree):
    def run(t, x):
        t.manual_seed(3)
        return t.native_dropout(x, p, train)

    agree(run, X)
    agree(
        lambda t, x: (t.manual_seed(3), t.native_dropout(x, p, None))[1], X, grad=False
    )  # whose gradient PyTorch does not scale
    with pytest.raises(RuntimeError, match="got p=-1"):
        torch.native_dropout(torch.ones(2), 2.0, True)
