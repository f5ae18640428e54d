"""The layers: PyTorch's parameters for the same seed, its results, its text, its state dicts."""

import pytest

import funtorch

# What makes the layer, and the sizes of its inputs.
LAYERS = {
    "Linear(3, 4)": [(2, 3)],
    "Linear(3, 4, bias=False)": [(3,)],
    "Bilinear(3, 2, 4)": [(5, 3), (5, 2)],
    "Identity(54, unused=1)": [(2, 3)],
    "ReLU()": [(2, 3)],
    "ReLU(True)": [(2, 3)],
    "ReLU6()": [(2, 3)],
    "Sigmoid()": [(2, 3)],
    "Tanh()": [(2, 3)],
    "SiLU()": [(2, 3)],
    "Mish()": [(2, 3)],
    "SELU()": [(2, 3)],
    "ELU(0.5)": [(2, 3)],
    "CELU(0.5, True)": [(2, 3)],
    "GELU()": [(2, 3)],
    "GELU('tanh')": [(2, 3)],
    "LeakyReLU(0.2)": [(2, 3)],
    "PReLU(3)": [(2, 3)],
    "RReLU().eval()": [(2, 3)],
    "Hardtanh(-0.5, 0.5)": [(2, 3)],
    "Hardsigmoid()": [(2, 3)],
    "Hardswish()": [(2, 3)],
    "Hardshrink()": [(2, 3)],
    "Softshrink(0.1)": [(2, 3)],
    "Softplus(2)": [(2, 3)],
    "Softsign()": [(2, 3)],
    "Tanhshrink()": [(2, 3)],
    "LogSigmoid()": [(2, 3)],
    "Threshold(0.1, 2.0)": [(2, 3)],
    "GLU(0)": [(2, 3)],
    "Softmax(1)": [(2, 3)],
    "LogSoftmax(-1)": [(2, 3)],
    "Softmin(0)": [(2, 3)],
    "Softmax2d()": [(2, 3, 2, 2)],
    "Dropout(0.3)": [(2, 3)],
    "Dropout1d(0.3)": [(2, 3, 2)],
    "Dropout2d()": [(2, 3, 2, 2)],
    "Dropout3d()": [(2, 3, 2, 2, 2)],
    "AlphaDropout(0.2)": [(2, 3)],
    "FeatureAlphaDropout(0.2)": [(2, 3, 2)],
    "Flatten()": [(2, 3, 2)],
    "Unflatten(1, (2, 3))": [(2, 6)],
    "PairwiseDistance(1)": [(2, 3), (2, 3)],
    "CosineSimilarity()": [(2, 3), (2, 3)],
    "PixelShuffle(2)": [(1, 4, 2, 2)],
    "PixelUnshuffle(2)": [(1, 1, 4, 4)],
    "ChannelShuffle(2)": [(1, 4, 2, 2)],
    "BatchNorm1d(3)": [(4, 3)],
    "BatchNorm1d(3, affine=False, momentum=None)": [(4, 3, 2)],
    "BatchNorm2d(3, track_running_stats=False)": [(2, 3, 2, 2)],
    "BatchNorm3d(3, bias=False)": [(2, 3, 2, 2, 2)],
    "BatchNorm2d(3).eval()": [(2, 3, 2, 2)],
    "InstanceNorm1d(3, affine=True)": [(2, 3, 4)],
    "InstanceNorm2d(3, track_running_stats=True)": [(3, 2, 2)],
    "LayerNorm((3, 2))": [(4, 3, 2)],
    "LayerNorm(3, bias=False)": [(4, 3)],
    "GroupNorm(2, 4)": [(3, 4, 2)],
    "GroupNorm(2, 4, affine=False)": [(3, 4, 2)],
    "RMSNorm(3)": [(4, 3)],
    "LocalResponseNorm(2)": [(2, 3, 4)],
    "MultiheadAttention(4, 2)": [(3, 2, 4)] * 3,
    "MultiheadAttention(4, 2, bias=False, batch_first=True)": [(2, 3, 4)] * 3,
    "MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True)": [(3, 2, 4), (5, 2, 3), (5, 2, 5)],
}
TABLES = {
    "Embedding(5, 3)": "([[0, 1], [4, 4]],)",
    "Embedding(5, 3, padding_idx=1, max_norm=1.0)": "([[0, 1], [4, 4]],)",
    "EmbeddingBag(5, 3, mode='sum', padding_idx=2)": "([[0, 1], [2, 4]],)",
    "EmbeddingBag(5, 3)": "([0, 1, 4], [0, 1])",
}


def _call(kit, made, arguments):
    """The layer's text, state before and after, results, and the gradients of the parameters."""
    kit.lib.manual_seed(0)
    layer = eval(f"nn.{made}", {"nn": kit.nn})
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    results = layer.double()(*(x.double() if x.is_floating_point() else x for x in arguments(kit.lib)))
    results = results if isinstance(results, tuple) else (results,)
    total = sum((r * r).sum() for r in results if r is not None)
    if total.requires_grad:
        total.backward()
    return repr(layer), before, results, layer.state_dict(), [p.grad for p in layer.parameters()]


@pytest.mark.parametrize("made", LAYERS)
@pytest.mark.filterwarnings("ignore:input's size at dim")
def test_layers_are_torch_s(made, alike):
    alike(lambda kit: _call(kit, made, lambda lib: [lib.randn(size) for size in LAYERS[made]]))


@pytest.mark.parametrize("made", TABLES)
def test_tables_are_torch_s(made, alike):
    alike(lambda kit: _call(kit, made, lambda lib: [lib.tensor(index) for index in eval(TABLES[made])]))


LOSSES = {
    "L1Loss()": 2, "MSELoss(reduction='sum')": 2, "SmoothL1Loss(beta=0.5)": 2, "HuberLoss('none', 0.5)": 2, "BCELoss()": 2,
    "BCEWithLogitsLoss()": 2, "KLDivLoss(reduction='batchmean')": 2, "PoissonNLLLoss(full=True)": 2, "GaussianNLLLoss()": 3,
    "HingeEmbeddingLoss()": 2, "SoftMarginLoss()": 2, "MultiLabelSoftMarginLoss()": 2, "TripletMarginLoss()": 3,
    "TripletMarginWithDistanceLoss()": 3, "MarginRankingLoss(0.2)": 3,
}  # fmt: skip
CLASS_LOSSES = [
    "CrossEntropyLoss(label_smoothing=0.1)",
    "NLLLoss(ignore_index=1)",
    "MultiMarginLoss(2)",
    "LinearCrossEntropyLoss(3, 4, bias=True)",
]


@pytest.mark.parametrize("made", LOSSES)
def test_losses_are_torch_s(made, alike):
    alike(lambda kit: _call(kit, made, lambda lib: [lib.rand(4, 3) for _ in range(LOSSES[made])]))


@pytest.mark.parametrize("made", CLASS_LOSSES)
def test_losses_of_classes_are_torch_s(made, alike):
    alike(lambda kit: _call(kit, made, lambda lib: [lib.rand(4, 3), lib.tensor([0, 2, 1, 1])]))


def test_weights_of_losses_are_buffers(alike):
    alike(lambda kit: kit.nn.CrossEntropyLoss(kit.tensor([1.0, 2.0])).state_dict())
    alike(lambda kit: kit.nn.BCEWithLogitsLoss(pos_weight=kit.tensor([1.0, 2.0])).state_dict())


def test_batch_norm_averages_all_batches_without_momentum(alike):
    def run(kit):
        layer = kit.nn.BatchNorm1d(2, momentum=None)
        for k in (1.0, 2.0, 6.0):
            layer(kit.tensor([[k, 1.0], [3.0, k]]))
        layer.eval()
        return layer.state_dict(), layer(kit.tensor([[1.0, 2.0]]))

    alike(run)


def test_batch_norm_loads_state_without_a_count(alike):
    def run(kit):
        old = {"weight": kit.tensor([2.0]), "bias": kit.tensor([0.0])}
        old |= {"running_mean": kit.tensor([1.0]), "running_var": kit.tensor([1.0])}
        layer = kit.nn.BatchNorm1d(1)
        return str(layer.load_state_dict(old)), layer.state_dict()

    alike(run)


def test_batch_norms_become_synchronised_ones():
    net = funtorch.nn.Sequential(funtorch.nn.BatchNorm2d(3), funtorch.nn.ReLU())
    made = funtorch.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert isinstance(made[0], funtorch.nn.SyncBatchNorm) and made[0].running_mean.shape == (3,)
    x = funtorch.randn(2, 3, 4, 4)
    assert funtorch.allclose(made(x), funtorch.nn.functional.relu(funtorch.nn.BatchNorm2d(3)(x)), atol=1e-5)


def test_tables_from_given_values(alike):
    alike(lambda kit: kit.nn.Embedding.from_pretrained(kit.tensor([[1.0, 2.0], [3.0, 4.0]]))(kit.tensor([1])))
    alike(lambda kit: kit.nn.EmbeddingBag.from_pretrained(kit.tensor([[1.0, 2.0]]), freeze=False).weight)


MASKS = {
    "attn_mask": [[False, True, False], [False, False, True], [False, False, False]],
    "key_padding_mask": [[False, False, True], [False, True, True]],
}


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}])
@pytest.mark.parametrize("names", [(), ("attn_mask",), ("key_padding_mask",), ("attn_mask", "key_padding_mask")])
def test_attention_with_masks_is_torch_s(names, options, alike):
    def run(kit):
        kit.lib.manual_seed(1)
        layer, x = kit.nn.MultiheadAttention(4, 2).eval(), kit.lib.randn(3, 2, 4)
        return layer(x, x, x, **{name: kit.tensor(MASKS[name]) for name in names}, **options)

    alike(run)


WRONG = [
    lambda kit: kit.nn.Dropout(1.5),
    lambda kit: kit.nn.Bilinear(0, 1, 1),
    lambda kit: kit.nn.GroupNorm(3, 4),
    lambda kit: kit.nn.Hardtanh(1.0, 0.0),
    lambda kit: kit.nn.BatchNorm1d(3)(kit.lib.zeros(3)),
    lambda kit: kit.nn.BatchNorm1d(3)(kit.lib.zeros(1, 3)),
    lambda kit: kit.nn.BatchNorm2d(3)(kit.lib.zeros(2, 3)),
    lambda kit: kit.nn.InstanceNorm1d(3, affine=True)(kit.lib.zeros(2, 4, 5)),
    lambda kit: kit.nn.Softmax2d()(kit.lib.zeros(2)),
    lambda kit: kit.nn.Embedding(3, 2, padding_idx=3),
    lambda kit: kit.nn.Embedding(3, 2)(kit.tensor([3])),
    lambda kit: kit.nn.Linear(3, 4)(kit.lib.zeros(2, 5)),
    lambda kit: kit.nn.MSELoss(reduction="avg")(kit.lib.zeros(2), kit.lib.zeros(2)),
    lambda kit: kit.nn.MultiMarginLoss(3),
    lambda kit: kit.nn.TripletMarginLoss(-1.0),
    lambda kit: kit.nn.MultiheadAttention(5, 2),
    lambda kit: kit.nn.MultiheadAttention(0, 2),
    lambda kit: kit.nn.MultiheadAttention(4, 2)(*[kit.lib.zeros(3, 2, 5)] * 3),
    lambda kit: kit.nn.MultiheadAttention(4, 2)(*[kit.lib.zeros(3, 2, 4)] * 3, attn_mask=kit.lib.zeros(3, 4)),
    lambda kit: kit.nn.MultiheadAttention(4, 2)(*[kit.lib.zeros(3, 2, 4)] * 3, is_causal=True),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, alike):
    assert issubclass(alike(wrong), Exception)
