"""Convolution, pooling, padding, upsampling and folding layers: parameters as torch draws them, text, results, errors."""

import pytest

LAYERS = [
    ("Conv1d(4, 6, 3, stride=2, padding=1)", (2, 4, 9)),
    ("Conv2d(4, 6, (3, 2), groups=2, padding=(1, 2), padding_mode='reflect')", (2, 4, 6, 7)),
    ("Conv2d(4, 6, 3, padding='same', padding_mode='circular', bias=False, dilation=2)", (2, 4, 6, 7)),
    ("Conv3d(2, 3, 2)", (1, 2, 3, 4, 3)),
    ("ConvTranspose1d(4, 6, 3, stride=2, output_padding=1)", (2, 4, 5)),
    ("ConvTranspose2d(4, 6, 3, groups=2, dilation=2)", (2, 4, 5, 4)),
    ("ConvTranspose3d(2, 3, 2, stride=2, padding=1)", (1, 2, 3, 4, 3)),
    ("MaxPool1d(2)", (2, 3, 7)),
    ("MaxPool2d((2, 3), stride=1, ceil_mode=True, return_indices=True)", (2, 3, 7, 6)),
    ("AvgPool1d(3, 2, 1)", (2, 3, 7)),
    ("AvgPool2d(2, divisor_override=3)", (2, 3, 7, 6)),
    ("LPPool2d(2, 3)", (2, 3, 7, 6)),
    ("AdaptiveAvgPool2d((3, None))", (2, 3, 7, 6)),
    ("AdaptiveMaxPool1d(3)", (2, 3, 7)),
    ("FractionalMaxPool2d(2, output_size=3)", (2, 3, 7, 6)),
    ("ZeroPad2d((1, 2, 0, 1))", (2, 3, 7, 6)),
    ("ConstantPad1d(2, 3.5)", (2, 3, 7)),
    ("ReflectionPad2d(1)", (2, 3, 7, 6)),
    ("ReplicationPad3d(1)", (2, 3, 4, 3, 2)),
    ("CircularPad1d(2)", (2, 3, 7)),
    ("Upsample(scale_factor=2, mode='bilinear')", (2, 3, 4, 5)),
    ("UpsamplingBilinear2d(size=3)", (2, 3, 4, 5)),
    ("UpsamplingNearest2d(scale_factor=2)", (2, 3, 4, 5)),
    ("Unfold((2, 3), padding=1)", (2, 3, 4, 5)),
    ("Fold((4, 5), 2, stride=1)", (2, 12, 12)),
]


@pytest.mark.parametrize(("layer", "shape"), LAYERS)
def test_layer(alike, layer: str, shape: tuple) -> None:
    def run(kit):
        kit.lib.manual_seed(0)
        module = eval(layer, vars(kit.nn))
        drawn = {name: value.clone() for name, value in module.state_dict().items()}
        x = kit.lib.linspace(-1, 1, kit.lib.zeros(shape).numel(), dtype=kit.lib.float64).sin().reshape(shape) + 1.5
        return repr(module), drawn, module.double()(x)

    alike(run)


ERRORS = [
    "Conv2d(3, 16, 3, groups=2)", "Conv2d(4, 15, 3, groups=2)", "Conv2d(4, 16, 3, groups=0)", "Conv2d(4, 16, 3, padding='same', stride=2)",
    "ConvTranspose2d(4, 16, 3, padding_mode='reflect')", "ConvTranspose2d(4, 16, 3, groups=3)", "FractionalMaxPool2d(2)",
    "FractionalMaxPool2d(2, 3, 0.5)", "FractionalMaxPool2d(2, None, 1.5)",
]  # fmt: skip


@pytest.mark.parametrize("layer", ERRORS)
def test_constructor_errors_are_torchs(alike, layer: str) -> None:
    alike(lambda kit: eval(layer, vars(kit.nn)))


@pytest.mark.parametrize("layer", ["Conv2d(4, 16, 3, padding='full')", "Conv2d(4, 16, 3, padding_mode='full')"])
def test_unknown_options(alike, layer: str) -> None:
    alike(lambda kit: eval(layer, vars(kit.nn)), text=False)


@pytest.mark.parametrize("size", [(7, 8), (1, 6, 8, 8), (7, 9), (1, 2, 3)])
def test_output_size_of_a_transposed_convolution(alike, size: tuple) -> None:
    alike(lambda kit: tuple(kit.nn.ConvTranspose2d(4, 6, 3, stride=2)(kit.lib.zeros(1, 4, 3, 3), output_size=size).shape))
