"""Transformers: PyTorch's weights for the same seed, values, gradients, masks of every kind, text."""

import numpy as np
import pytest
import torch

import funtorch

pytestmark = pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor is True", "ignore:The PyTorch API of nested tensors", "ignore:Support for mismatched"
)

SIZES = "d_model=4, nhead=2, dim_feedforward=6, dropout=0.0"
MODELS = {
    f"TransformerEncoderLayer({SIZES})": "x",
    f"TransformerEncoderLayer({SIZES}, norm_first=True, activation='gelu', batch_first=True)": "x",
    f"TransformerEncoderLayer({SIZES}, bias=False, activation=torch.tanh)": "x",
    f"TransformerDecoderLayer({SIZES})": "y, x",
    f"TransformerDecoderLayer({SIZES}, norm_first=True, bias=False, activation='gelu')": "y, x",
    f"TransformerEncoder(nn.TransformerEncoderLayer({SIZES}, activation=nn.GELU()), 2, nn.LayerNorm(4))": "x",
    f"TransformerDecoder(nn.TransformerDecoderLayer({SIZES}, batch_first=True), 2)": "y, x",
    f"Transformer({SIZES}, num_encoder_layers=2, num_decoder_layers=1)": "x, y",
    f"Transformer({SIZES}, num_encoder_layers=1, num_decoder_layers=2, norm_first=True, bias=False, batch_first=True)": "x, y",
}


def run(kit, made, arguments, training=True):
    """Text, state, results and gradients: x is (3, 2, 4), y (2, 2, 4) or, for models with the batch first, (3, 2, 4) too."""
    kit.lib.manual_seed(0)
    model = eval(f"nn.{made}", {"nn": kit.nn, "torch": kit.lib}).train(training)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    x = kit.lib.randn(3, 2, 4).double().requires_grad_()
    y = kit.lib.randn(3 if "batch_first" in made else 2, 2, 4).double().requires_grad_()
    names = {"x": x, "y": y}
    result = model.double()(*(names[name] for name in arguments.split(", ")))
    (result**3).sum().backward()
    return repr(model), before, result, [t.grad for t in (x, y) if t.grad is not None], [p.grad for p in model.parameters()]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("made", MODELS)
def test_models_are_torch_s(made, training, alike):
    alike(lambda kit: run(kit, made, MODELS[made], training))


CAUSAL = "nn.Transformer.generate_square_subsequent_mask(3)"
BANNED = "torch.tensor([[False, True, False], [False, False, True], [False, False, False]])"
PADDED = "torch.tensor([[False, False, True], [False, True, True]])"
ENCODER_MASKS = [
    f"mask={CAUSAL}",
    f"mask={CAUSAL}, is_causal=True",
    f"mask={CAUSAL} == -float('inf')",
    f"mask={BANNED}",
    f"mask={BANNED}.expand(4, 3, 3)",
    f"src_key_padding_mask={PADDED}",
    f"src_key_padding_mask={PADDED}.float() * -2",
    f"mask={BANNED}, src_key_padding_mask={PADDED}",
]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("masks", ENCODER_MASKS)
def test_masks_of_an_encoder(masks, batch_first, alike):
    def masked(kit):
        kit.lib.manual_seed(0)
        layer = kit.nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=batch_first)
        model, x = kit.nn.TransformerEncoder(layer, 2), kit.lib.randn(2, 3, 4)
        given = eval(f"dict({masks})", {"nn": kit.nn, "torch": kit.lib})
        return model(x if batch_first else x.transpose(0, 1), **given)

    alike(masked)


def test_masks_of_a_decoder(alike):
    def masked(kit):
        kit.lib.manual_seed(0)
        model = kit.nn.TransformerDecoder(kit.nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2)
        x, y = kit.lib.randn(2, 2, 4), kit.lib.randn(3, 2, 4)
        mask = kit.nn.Transformer.generate_square_subsequent_mask(3)
        padded = kit.tensor([[False, True], [False, False]])
        return [
            model(y, x, tgt_mask=mask),
            model(y, x, tgt_mask=mask, tgt_is_causal=True, memory_key_padding_mask=padded),
            model(y, x, memory_mask=kit.tensor([[False, True], [True, False], [False, False]])),
            model(y[:, 0], x[:, 0]),
        ]

    alike(masked)


@pytest.mark.parametrize("options", ["", ", enable_nested_tensor=False", ", mask_check=False"])
def test_padding_is_zero_where_torch_leaves_it_out(options, alike):
    """In evaluation mode without gradients, if padding is at the end."""

    def evaluated(kit):
        kit.lib.manual_seed(0)
        layer = kit.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
        model = eval(f"nn.TransformerEncoder(layer, 2, nn.LayerNorm(4){options})", {"nn": kit.nn, "layer": layer}).eval()
        x, padded = kit.lib.randn(2, 3, 4), eval(PADDED, {"torch": kit.lib})
        with kit.lib.no_grad():
            without = model(x, src_key_padding_mask=padded)
        return without, model(x, src_key_padding_mask=padded)

    alike(evaluated)


def test_dropout_draws_as_torch_does(alike):
    def dropped(kit):
        kit.lib.manual_seed(0)
        model = kit.nn.TransformerDecoderLayer(4, 2, 6, dropout=0.3)
        return model(kit.lib.randn(3, 2, 4), kit.lib.randn(2, 2, 4))

    alike(dropped)


def test_the_causal_mask(alike):
    alike(lambda kit: kit.nn.Transformer.generate_square_subsequent_mask(3, dtype=kit.lib.float64))


def test_a_causal_encoder_sees_no_later_step():
    layer = funtorch.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True).eval()
    model = funtorch.nn.TransformerEncoder(layer, 1)
    x, mask = funtorch.randn(1, 3, 4), funtorch.nn.Transformer.generate_square_subsequent_mask(3)
    other = funtorch.cat([x[:, :2], funtorch.randn(1, 1, 4)], 1)
    first, second = model(x, mask).detach().numpy(), model(other, mask).detach().numpy()
    np.testing.assert_allclose(first[:, :2], second[:, :2], atol=1e-6)
    assert abs(first[:, 2] - second[:, 2]).max() > 1e-3


def test_layers_of_a_stack_are_copies():
    layer = funtorch.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
    first, second = funtorch.nn.TransformerEncoder(layer, 2).layers
    assert first.linear1.weight is not second.linear1.weight
    assert funtorch.equal(first.linear1.weight, second.linear1.weight)


def test_vmap_equals_a_loop():
    layer = funtorch.nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0).double()
    xs = funtorch.randn(2, 3, 1, 4, dtype=funtorch.float64)
    mask = funtorch.nn.Transformer.generate_square_subsequent_mask(3, dtype=funtorch.float64)
    got = funtorch.vmap(lambda x: layer(x, mask))(xs)
    for i in range(2):
        np.testing.assert_allclose(got[i].detach().numpy(), layer(xs[i], mask).detach().numpy(), atol=1e-14)


def test_an_encoder_that_cannot_leave_padding_out_says_why():
    layer = funtorch.nn.TransformerEncoderLayer(4, 2, 6, norm_first=True)
    with pytest.warns(UserWarning, match="use_nested_tensor is False because encoder_layer.norm_first was True"):
        assert not funtorch.nn.TransformerEncoder(layer, 1).use_nested_tensor


WRONG = [
    lambda kit: kit.nn.TransformerEncoderLayer(4, 2, activation="tanh"),
    lambda kit: kit.nn.TransformerEncoderLayer(4, 3),
    lambda kit: kit.nn.Transformer(4, 2, 1, 1, 6)(kit.lib.zeros(3, 2, 4), kit.lib.zeros(3, 1, 4)),
    lambda kit: kit.nn.Transformer(4, 2, 1, 1, 6)(kit.lib.zeros(3, 2, 4), kit.lib.zeros(3, 2, 6)),
    lambda kit: kit.nn.TransformerEncoderLayer(4, 2, 6)(kit.lib.zeros(3, 2, 4), is_causal=True),
    lambda kit: kit.nn.TransformerEncoderLayer(4, 2, 6)(kit.lib.zeros(3, 2, 4), kit.lib.zeros(2, 2)),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong), Exception)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("padding_first", [False, True])
def test_the_fast_path_is_the_same_in_a_program_and_can_be_switched_off(padding_first):
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(0)
        layer = lib.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        encoder = lib.nn.TransformerEncoder(layer, 1).eval()
        x, padding = lib.randn(2, 4, 8), lib.tensor([[False, False, True, True], [False] * 4])
        padding = padding.flip(1) if padding_first else padding
        run = funtorch.compile(encoder) if lib is funtorch else encoder
        with lib.no_grad():
            outs = [run(x, src_key_padding_mask=padding) for _ in range(4)]
            lib.backends.mha.set_fastpath_enabled(False)
            try:
                outs.append(encoder(x, src_key_padding_mask=padding))
            finally:
                lib.backends.mha.set_fastpath_enabled(True)
        results.append(np.stack([out.numpy() for out in outs]))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_masks_of_two_kinds_warn_by_their_names():
    x, padding = funtorch.ones(2, 3, 8), funtorch.zeros(2, 3).bool()
    layer = funtorch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    with pytest.warns(UserWarning, match="mismatched src_key_padding_mask and src_mask"):
        layer(x, funtorch.zeros(3, 3), padding)
    with pytest.raises(AssertionError, match="types of src_key_padding_mask"):
        layer(x, src_key_padding_mask=padding.long())


def test_masks_of_heads_and_of_keys_as_one():
    query, mask, padding = (t.tolist() for t in (torch.ones(2, 3, 8), torch.eye(3), torch.zeros(2, 3)))
    for given in ((mask, padding), (None, padding), (mask, None), (None, None)):
        found = []
        for lib in (torch, funtorch):
            layer = lib.nn.MultiheadAttention(8, 2, batch_first=True)
            merged, kind = layer.merge_masks(*(None if m is None else lib.tensor(m) for m in given), lib.tensor(query))
            found.append((None if merged is None else merged.tolist(), kind))
        assert found[0] == found[1]
