"""GPT: GPT-2's names and size, equality with its torch twin, causality, learning, generation, bad input."""

import numpy as np
import pytest

import funtorch
from funtorch.models import GPT, GPTConfig

SMALL = {"vocab_size": 13, "block_size": 8, "n_layer": 2, "n_head": 2, "n_embd": 8}


def tokens(*size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 13, size)


def test_parameters_have_gpt2s_names_and_shapes():
    shapes = {name: tuple(value.shape) for name, value in GPT(GPTConfig(**SMALL)).state_dict().items()}
    block = {
        "ln_1.weight": (8,),
        "ln_1.bias": (8,),
        "attn.c_attn.weight": (24, 8),
        "attn.c_attn.bias": (24,),
        "attn.c_proj.weight": (8, 8),
        "attn.c_proj.bias": (8,),
        "ln_2.weight": (8,),
        "ln_2.bias": (8,),
        "mlp.c_fc.weight": (32, 8),
        "mlp.c_fc.bias": (32,),
        "mlp.c_proj.weight": (8, 32),
        "mlp.c_proj.bias": (8,),
    }
    assert shapes == {
        "transformer.wte.weight": (13, 8),
        "transformer.wpe.weight": (8, 8),
        **{f"transformer.h.{i}.{name}": shape for i in range(2) for name, shape in block.items()},
        "transformer.ln_f.weight": (8,),
        "transformer.ln_f.bias": (8,),
        "lm_head.weight": (13, 8),
    }


def test_one_embedding_is_read_at_both_ends_and_counted_once():
    model = GPT(GPTConfig(**SMALL, bias=False))
    assert model.lm_head.weight is model.transformer["wte"].weight
    assert sum(p.numel() for p in model.parameters()) == 13 * 8 + 8 * 8 + 2 * (2 * 8 + 12 * 8 * 8) + 8


@pytest.mark.parametrize("bias", [True, False])
def test_equals_the_torch_twin(bias: bool, twin, same_step):
    module = twin("gpt")
    reference = module.GPT(module.GPTConfig(**SMALL, bias=bias))
    same_step(GPT(GPTConfig(**SMALL, bias=bias)), reference, tokens(2, 7))


def test_a_position_sees_nothing_after_it():
    model = GPT(GPTConfig(**SMALL)).double()
    sequence = tokens(1, 6)
    changed = sequence.copy()
    changed[0, 4] = (changed[0, 4] + 1) % 13
    before, after = (model(funtorch.from_numpy(array)).detach().numpy() for array in (sequence, changed))
    np.testing.assert_allclose(after[:, :4], before[:, :4], rtol=0, atol=1e-14)
    assert np.abs(after[:, 4:] - before[:, 4:]).max() > 1e-6


def test_the_loss_falls_and_the_model_continues_what_it_learned():
    funtorch.manual_seed(0)
    sequence = funtorch.arange(18).reshape(2, 9) % 13
    model = GPT(GPTConfig(**SMALL | {"n_layer": 1, "n_embd": 16}))
    optimizer = funtorch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        logits = model(sequence[:, :-1])
        loss = funtorch.nn.functional.cross_entropy(logits.reshape(-1, 13), sequence[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    model.eval()
    assert model.generate(sequence[:1, :4], 4)[0].tolist() == list(range(8))


def test_generation_goes_on_beyond_the_block_size():
    sequence = GPT(GPTConfig(**SMALL)).eval().generate(funtorch.from_numpy(tokens(2, 6)), 5)
    assert tuple(sequence.shape) == (2, 11) and not sequence.requires_grad


def test_a_sequence_beyond_the_block_size_raises():
    with pytest.raises(ValueError, match=r"GPT: tokens \(2, 9\) exceed block_size=8"):
        GPT(GPTConfig(**SMALL))(funtorch.from_numpy(tokens(2, 9)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_head": 5}, "n_head=5 must divide n_embd=768"),
        ({"n_layer": 0}, "at least 1, got .*n_layer=0"),
        ({"dropout": 1.5}, "dropout must be in .* got 1.5"),
    ],
)
def test_bad_configurations(options: dict, message: str):
    with pytest.raises(ValueError, match=message):
        GPTConfig(**options)
