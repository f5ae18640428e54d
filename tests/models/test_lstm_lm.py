"""LSTM language model: names, equality with its twin and with torch's nn.LSTM, learning, bad options."""

import numpy as np
import pytest
import torch

import funtorch
from funtorch.models import LSTMLanguageModel, LSTMLanguageModelConfig

SMALL = {"vocabulary": 11, "embedding": 5, "hidden": 6, "layers": 2, "dropout": 0.0}


def tokens(*size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 11, size)


def test_parameters_have_the_examples_names_and_shapes():
    shapes = {n: tuple(p.shape) for n, p in LSTMLanguageModel(LSTMLanguageModelConfig(**SMALL)).state_dict().items()}
    assert shapes == {
        "encoder.weight": (11, 5),
        "rnn.weight_ih_l0": (24, 5),
        "rnn.weight_hh_l0": (24, 6),
        "rnn.bias_ih_l0": (24,),
        "rnn.bias_hh_l0": (24,),
        "rnn.weight_ih_l1": (24, 6),
        "rnn.weight_hh_l1": (24, 6),
        "rnn.bias_ih_l1": (24,),
        "rnn.bias_hh_l1": (24,),
        "decoder.weight": (11, 6),
        "decoder.bias": (11,),
    }


@pytest.mark.parametrize("tied", [False, True])
def test_equals_the_torch_twin(tied: bool, twin, same_step):
    module, options = twin("lstm_lm"), SMALL | {"hidden": 5, "tied": tied}
    reference = module.LSTMLanguageModel(module.LSTMLanguageModelConfig(**options))
    model = LSTMLanguageModel(LSTMLanguageModelConfig(**options))
    same_step(model, reference, tokens(3, 7))
    assert (model.decoder.weight is model.encoder.weight) == tied


def test_the_recurrence_is_that_of_torch():
    model = LSTMLanguageModel(LSTMLanguageModelConfig(**SMALL)).double()
    reference = torch.nn.LSTM(5, 6, num_layers=2, batch_first=True).double()
    weights = {name: torch.from_numpy(p.detach().numpy().copy()) for name, p in model.rnn.named_parameters()}
    reference.load_state_dict(weights)
    rng = np.random.default_rng(0)
    x, h, c = rng.normal(size=(3, 4, 5)), rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3, 6))
    state = funtorch.from_numpy(h), funtorch.from_numpy(c)
    outputs, (last_h, last_c) = model.rnn(funtorch.from_numpy(x), state)
    expected = reference(torch.from_numpy(x), (torch.from_numpy(h), torch.from_numpy(c)))
    for got, value in zip((outputs, last_h, last_c), (expected[0], *expected[1]), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), value.detach().numpy(), rtol=1e-10, atol=1e-12)


def test_a_sequence_in_two_parts_equals_the_whole():
    model = LSTMLanguageModel(LSTMLanguageModelConfig(**SMALL)).double()
    sequence = funtorch.from_numpy(tokens(2, 6))
    whole, _ = model(sequence)
    first, state = model(sequence[:, :2])
    second, _ = model(sequence[:, 2:], state)
    np.testing.assert_allclose(funtorch.cat([first, second], 1).detach().numpy(), whole.detach().numpy(), atol=1e-12)


def test_the_loss_falls():
    funtorch.manual_seed(0)
    sequence = funtorch.arange(24).reshape(2, 12) % 11
    model = LSTMLanguageModel(LSTMLanguageModelConfig(**SMALL | {"layers": 1, "hidden": 12, "dropout": 0.1}))
    optimizer = funtorch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        logits, _ = model(sequence[:, :-1])
        loss = funtorch.nn.functional.cross_entropy(logits.reshape(-1, 11), sequence[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "at least 1, got .*layers=0"),
        ({"dropout": -0.1}, "dropout must be in .* got -0.1"),
        ({"tied": True, "hidden": 3}, "tied=True needs hidden == embedding, got hidden=3, embedding=200"),
    ],
)
def test_bad_configurations(options: dict, message: str):
    with pytest.raises(ValueError, match=message):
        LSTMLanguageModelConfig(**options)
