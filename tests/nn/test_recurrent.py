"""Recurrent layers and cells: PyTorch's weights for the same seed, values, gradients of both orders; batches of sequences of several lengths."""

import copy

import numpy as np
import pytest

import funtorch

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")

# What makes the layer, and the shapes of what it gets.
LAYERS = {
    "RNN(3, 4)": [(5, 2, 3)],
    "RNN(3, 4, 2, 'relu', bidirectional=True)": [(5, 2, 3), (4, 2, 4)],
    "RNN(3, 4, bias=False, batch_first=True)": [(2, 5, 3), (1, 2, 4)],
    "GRU(3, 4, 2)": [(5, 2, 3), (2, 2, 4)],
    "GRU(3, 4, bidirectional=True, batch_first=True)": [(2, 5, 3)],
    "GRU(3, 4, bias=False)": [(5, 3), (1, 4)],
    "LSTM(3, 4)": [(5, 2, 3), [(1, 2, 4), (1, 2, 4)]],
    "LSTM(3, 4, 2, bidirectional=True, proj_size=2)": [(5, 2, 3), [(4, 2, 2), (4, 2, 4)]],
    "LSTM(3, 4, 3, bias=False, batch_first=True)": [(2, 5, 3)],
    "LSTM(3, 4, proj_size=3)": [(5, 3), [(1, 3), (1, 4)]],
    # So many sequences that the input's products are made step by step.
    "RNN(3, 2, bidirectional=True)": [(3, 33, 3)],
    "GRU(3, 2, batch_first=True)": [(33, 3, 3), (1, 33, 2)],
    "LSTM(3, 2, 2, proj_size=1)": [(3, 33, 3), [(2, 33, 1), (2, 33, 2)]],
    "RNNCell(3, 4)": [(2, 3), (2, 4)],
    "RNNCell(3, 4, bias=False, nonlinearity='relu')": [(3,), (4,)],
    "GRUCell(3, 4)": [(2, 3), (2, 4)],
    "GRUCell(3, 4, bias=False)": [(2, 3)],
    "LSTMCell(3, 4)": [(2, 3), [(2, 4), (2, 4)]],
    "LSTMCell(3, 4, bias=False)": [(3,)],
}


def flat(value):
    if value is None or hasattr(value, "shape"):
        return [] if value is None else [value]
    return [leaf for each in value for leaf in flat(each)]


def draw(lib, shape):
    if isinstance(shape, list):
        return tuple(draw(lib, each) for each in shape)
    return lib.randn(shape).double().requires_grad_()


def both_orders(lib, results, leaves):
    """Gradients of a cubic loss, and those of their square."""
    loss = sum(((r + 0.5) ** 3).sum() for r in results)
    first = lib.autograd.grad(loss, leaves, create_graph=True)
    return first, lib.autograd.grad(sum((g**2).sum() for g in first), leaves)


def run(kit, made, shapes):
    kit.lib.manual_seed(0)
    layer = eval(f"nn.{made}", {"nn": kit.nn})
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    arguments = [draw(kit.lib, shape) for shape in shapes]
    results = flat(layer.double()(*arguments))
    return repr(layer), before, results, both_orders(kit.lib, results, [*flat(arguments), *layer.parameters()])


@pytest.mark.parametrize("made", LAYERS)
def test_layers_and_cells_are_torch_s(made, alike):
    alike(lambda kit: run(kit, made, LAYERS[made]))


@pytest.mark.parametrize(
    "made", ["RNN(3, 4, 2)", "GRU(3, 4, bidirectional=True)", "LSTM(3, 4, 2, bidirectional=True, proj_size=2)"]
)
@pytest.mark.parametrize("lengths", [[4, 1, 3], [2, 2, 2]])
def test_packed_sequences_are_torch_s(made, lengths, alike):
    def packed(kit):
        kit.lib.manual_seed(0)
        layer, x = eval(f"nn.{made}", {"nn": kit.nn}).double(), kit.lib.randn(3, 4, 3).double().requires_grad_()
        given = kit.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, hidden = layer(given)
        assert type(out) is type(given)
        results = [out.data, *flat(hidden)]
        return results, out.batch_sizes, out.unsorted_indices, both_orders(kit.lib, results, [x, *layer.parameters()])

    alike(packed)


def test_a_packed_batch_equals_each_sequence_by_itself():
    layer = funtorch.nn.LSTM(3, 4, 2, bidirectional=True).double()
    sequences = [funtorch.randn(n, 3, dtype=funtorch.float64) for n in (2, 5, 3)]
    out, (h, c) = layer(funtorch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False))
    padded, _ = funtorch.nn.utils.rnn.pad_packed_sequence(out)
    for i, x in enumerate(sequences):
        alone, (own_h, own_c) = layer(x)
        for got, expected in ((padded[: len(x), i], alone), (h[:, i], own_h), (c[:, i], own_c)):
            np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), atol=1e-14)


@pytest.mark.parametrize("packed", [False, True])
def test_dropout_between_layers_draws_as_torch_does(packed, alike):
    def dropped(kit):
        kit.lib.manual_seed(0)
        layer, x = kit.nn.GRU(3, 4, 3, dropout=0.4, bidirectional=True), kit.lib.randn(5, 2, 3)
        given = kit.nn.utils.rnn.pack_padded_sequence(x, [5, 2]) if packed else x
        once, again, settled = (layer(given)[0], layer(given)[0], layer.eval()(given)[0])
        return [each.data if packed else each for each in (once, again, settled)]

    assert alike(dropped)


def test_outputs_of_a_layer_do_not_change_with_the_run_that_has_no_tape():
    layer, x = funtorch.nn.LSTM(3, 4, 2), funtorch.randn(5, 2, 3)
    with funtorch.no_grad():
        expected = layer(x)[0]
    np.testing.assert_array_equal(layer(x)[0].detach().numpy(), expected.numpy())


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_vmap_equals_a_loop(kind):
    layer = getattr(funtorch.nn, kind)(3, 4, bidirectional=True).double()
    xs = funtorch.randn(2, 5, 3, dtype=funtorch.float64)
    parameters = {name: p.detach() for name, p in layer.named_parameters()}

    def loss(parameters, x):
        return (funtorch.func.functional_call(layer, parameters, (x,))[0] ** 2).sum()

    got = funtorch.vmap(funtorch.func.grad(loss), in_dims=(None, 0))(parameters, xs)
    for i in range(2):
        alone = funtorch.func.grad(loss)(parameters, xs[i])
        for name, expected in alone.items():
            np.testing.assert_allclose(got[name][i].numpy(), expected.numpy(), atol=1e-13, err_msg=name)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_forward_mode_agrees_with_reverse_mode(kind):
    layer, x = getattr(funtorch.nn, kind)(2, 3).double(), funtorch.randn(3, 2, dtype=funtorch.float64)

    def output(x):
        return layer(x)[0]

    forward, reverse = funtorch.func.jacfwd(output)(x), funtorch.func.jacrev(output)(x)
    np.testing.assert_allclose(forward.detach().numpy(), reverse.detach().numpy(), atol=1e-14)


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_hessian_is_the_jacobian_of_the_gradient(kind):
    layer, x = getattr(funtorch.nn, kind)(1, 2).double(), funtorch.randn(2, 32, 1, dtype=funtorch.float64)
    weight = layer.weight_hh_l0.detach()
    func = funtorch.func

    def loss(weight):
        return (func.functional_call(layer, {"weight_hh_l0": weight}, (x,))[0] ** 3).sum()

    expected, found = func.jacrev(func.grad(loss))(weight), func.hessian(loss)(weight)
    assert expected.abs().max() > 1e-6
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-13)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_gradients_of_a_mapped_layer_are_those_of_its_lanes_together(kind):
    layer, xs = getattr(funtorch.nn, kind)(3, 2).double(), funtorch.randn(2, 3, 32, 3, dtype=funtorch.float64)

    def loss(outputs):
        return (outputs**3).sum()

    mapped = funtorch.autograd.grad(loss(funtorch.vmap(lambda x: layer(x)[0])(xs)), list(layer.parameters()))
    alone = funtorch.autograd.grad(sum(loss(layer(x)[0]) for x in xs), list(layer.parameters()))
    for got, expected in zip(mapped, alone, strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("batch", [2, 32])
def test_the_tiers_agree(kind, batch):
    layer, x = getattr(funtorch.nn, kind)(3, 2).double(), funtorch.randn(3, batch, 3, dtype=funtorch.float64)
    found = {}
    for mode in ("host", "kernel"):
        with funtorch.set_engine(mode):
            found[mode] = funtorch.autograd.grad((layer(x)[0] ** 3).sum(), list(layer.parameters()))
    for got, expected in zip(*found.values(), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-12)


def test_a_layer_is_one_node_whatever_the_length():
    out, _ = funtorch.nn.LSTM(3, 4)(funtorch.randn(50, 2, 3))
    seen, left = set(), [out.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in seen:
            seen.add(node)
            left += [each for each, _ in node.next_functions]
    assert len(seen) < 12


def test_half_precision_is_computed_in_float32():
    layer = funtorch.nn.GRU(3, 4)
    x = funtorch.randn(20, 2, 3)
    exact, got = layer(x)[0], layer.bfloat16()(x.bfloat16())[0]
    assert got.dtype == funtorch.bfloat16
    np.testing.assert_allclose(got.float().detach().numpy(), exact.detach().numpy(), atol=0.02)


def test_functional_forms(alike):
    def stacks(kit):
        kit.lib.manual_seed(0)
        layer, x = kit.nn.GRU(3, 4, 2), kit.lib.randn(5, 2, 3)
        weights = [w for each in layer.all_weights for w in each]
        layer.flatten_parameters()
        return kit.lib.gru(x, kit.lib.zeros(2, 2, 4), weights, True, 2, 0.0, False, False, False)

    alike(stacks)


def test_a_copy_and_a_state_dict_carry_the_weights(alike):
    def carried(kit):
        kit.lib.manual_seed(0)
        layer, x = kit.nn.LSTM(3, 4, proj_size=2), kit.lib.randn(5, 2, 3)
        other = kit.nn.LSTM(3, 4, proj_size=2)
        other.load_state_dict(layer.state_dict())
        return copy.deepcopy(layer)(x)[0], other(x)[0]

    first, second = alike(carried)
    assert first == second


WRONG = [
    lambda kit: kit.nn.LSTM(3, 4, dropout=1.5),
    lambda kit: kit.nn.LSTM(3, 4, proj_size=4),
    lambda kit: kit.nn.LSTM(3, 4, proj_size=-1),
    lambda kit: kit.nn.GRU(0, 4),
    lambda kit: kit.nn.GRU(3, 4.0),
    lambda kit: kit.nn.GRU(3, 4, bias=1),
    lambda kit: kit.nn.GRU(3, 4, num_layers=0),
    lambda kit: kit.nn.GRU(3, 4, proj_size=2),
    lambda kit: kit.nn.RNN(3, 4, nonlinearity="sigmoid"),
    lambda kit: kit.nn.RNNBase("OTHER", 3, 4),
    lambda kit: kit.nn.LSTM(3, 4)(kit.lib.zeros(5, 2, 4)),
    lambda kit: kit.nn.LSTM(3, 4)(kit.lib.zeros(5, 1, 2, 3)),
    lambda kit: kit.nn.RNN(3, 4)(kit.lib.zeros(5)),
    lambda kit: kit.nn.RNN(3, 4)(kit.lib.zeros(0, 2, 3)),
    lambda kit: kit.nn.GRU(3, 4)(kit.lib.zeros(5, 2, 3).double()),
    lambda kit: kit.nn.GRU(3, 4)(kit.lib.zeros(5, 2, 3), kit.lib.zeros(1, 3, 4)),
    lambda kit: kit.nn.GRU(3, 4)(kit.lib.zeros(5, 2, 3), kit.lib.zeros(2, 4)),
    lambda kit: kit.nn.GRU(3, 4)(kit.lib.zeros(5, 3), kit.lib.zeros(1, 2, 4)),
    lambda kit: kit.nn.LSTM(3, 4)(kit.lib.zeros(5, 2, 3), [kit.lib.zeros(1, 2, 4), kit.lib.zeros(1, 3, 4)]),
    lambda kit: kit.nn.LSTM(3, 4)(kit.lib.zeros(5, 2, 3), [kit.lib.zeros(2, 4), kit.lib.zeros(2, 4)]),
    lambda kit: kit.nn.LSTMCell(3, 4)(kit.lib.zeros(2, 5)),
    lambda kit: kit.nn.LSTMCell(3, 4)(kit.lib.zeros(2, 3), (kit.lib.zeros(2, 4), kit.lib.zeros(2, 5))),
    lambda kit: kit.nn.LSTMCell(3, 4)(kit.lib.zeros(2, 3), (kit.lib.zeros(1, 2, 4), kit.lib.zeros(2, 4))),
    lambda kit: kit.nn.GRUCell(3, 4)(kit.lib.zeros(2, 3), kit.lib.zeros(3, 4)),
    lambda kit: kit.nn.GRUCell(3, 4)(kit.lib.zeros(1, 2, 3)),
    lambda kit: kit.nn.RNNCell(3, 4)(kit.lib.zeros(2, 3), kit.lib.zeros(2, 5)),
    lambda kit: kit.nn.RNNCell(3, 4, nonlinearity="sigmoid")(kit.lib.zeros(2, 3)),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong), Exception)


def test_dropout_on_a_single_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1, but got dropout=0.2 and num_layers=1"):
        funtorch.nn.GRU(3, 4, dropout=0.2)


def test_a_wrong_number_of_parameters_is_named():
    x, h = funtorch.zeros(5, 2, 3), funtorch.zeros(1, 2, 4)
    weights = list(funtorch.nn.GRU(3, 4).parameters())[:3]
    with pytest.raises(RuntimeError, match=r"gru\(\): got an incorrect number of RNN parameters: 3 for 1"):
        funtorch.gru(x, h, weights, True, 1, 0.0, False, False, False)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_states_of_another_dtype_are_refused(name):
    layer, cell = getattr(funtorch.nn, name)(3, 4), getattr(funtorch.nn, f"{name}Cell")(3, 4)
    h = funtorch.zeros(1, 2, 4).double()
    with pytest.raises(RuntimeError, match="same dtype, but got Double and Float"):
        layer(funtorch.zeros(5, 2, 3), (h, h) if name == "LSTM" else h)
    with pytest.raises(RuntimeError, match="same dtype, but got Double and Float"):
        cell(funtorch.zeros(2, 3), (h[0], h[0]) if name == "LSTM" else h[0])


def test_states_of_an_lstm_cell_that_are_no_pair():
    cell, x, h = funtorch.nn.LSTMCell(3, 4), funtorch.zeros(2, 3), funtorch.zeros(2, 4)
    with pytest.raises(TypeError, match="must be tuple of Tensors"):
        cell(x, h)
    with pytest.raises(RuntimeError, match="two hidden states"):
        cell(x, (h,))


def test_weights_of_cells_that_do_not_fit():
    x, h = funtorch.zeros(2, 3), funtorch.zeros(2, 4)
    with pytest.raises(RuntimeError, match=r"weight_ih first dim must be 3 \* hidden_size = 12, but got 4"):
        funtorch.gru_cell(x, h, funtorch.zeros(4, 3), funtorch.zeros(12, 4))


def test_the_older_address_of_the_functions():
    from funtorch import _VF

    assert _VF.lstm is funtorch.lstm and funtorch._VF.gru is funtorch.gru
    with pytest.raises(AttributeError, match="no attribute"):
        _VF.no_such_function  # noqa: B018
