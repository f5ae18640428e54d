"""MLP: names, shapes, equality with its torch twin, learning, bad configurations."""

import numpy as np
import pytest

import funtorch
from funtorch.models import MLP, MLPConfig


def test_parameters_have_the_documented_names_and_shapes():
    shapes = {name: tuple(p.shape) for name, p in MLP(MLPConfig(sizes=(3, 5, 2))).state_dict().items()}
    assert shapes == {
        "layers.0.weight": (5, 3),
        "layers.0.bias": (5,),
        "layers.1.weight": (2, 5),
        "layers.1.bias": (2,),
    }


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "tanh"])
def test_equals_the_torch_twin(activation: str, twin, same_step):
    module = twin("mlp")
    reference = module.MLP(module.MLPConfig(sizes=(3, 5, 4, 2), activation=activation))
    model = MLP(MLPConfig(sizes=(3, 5, 4, 2), activation=activation))
    same_step(model, reference, np.random.default_rng(0).normal(size=(2, 6, 3)))


def test_the_loss_falls():
    funtorch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = funtorch.tensor(rng.normal(size=(32, 4)), dtype=funtorch.float32)
    y = (x[:, 0] * x[:, 1] > 0).long()
    model = MLP(MLPConfig(sizes=(4, 32, 2), activation="tanh"))
    optimizer = funtorch.optim.Adam(model.parameters(), lr=0.03)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = funtorch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_dropout_acts_in_training_only():
    model, x = MLP(MLPConfig(sizes=(4, 64, 8), dropout=0.5)), funtorch.ones(2, 4)
    assert not funtorch.equal(model(x), model(x))
    model.eval()
    assert funtorch.equal(model(x), model(x))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (4,)}, r"sizes must hold at least two .* got \(4,\)"),
        ({"sizes": (4, 0)}, r"sizes must .* got \(4, 0\)"),
        ({"activation": "sine"}, "activation must be one of .* got 'sine'"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\), got 1.0"),
    ],
)
def test_bad_configurations(options: dict, message: str):
    with pytest.raises(ValueError, match=message):
        MLPConfig(**options)
