"""ResNet: torchvision's names, shapes, equality with its torch twin, learning, bad configurations."""

import numpy as np
import pytest

import funtorch
from funtorch.models import CIFAR_RESNET, RESNET18, ResNet, ResNetConfig

TINY = {"blocks": (1, 2), "widths": (4, 6), "num_classes": 3, "in_channels": 2}


def test_resnet18_has_torchvisions_names_and_size():
    model = ResNet(RESNET18)
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    expected = {
        "conv1.weight": (64, 3, 7, 7),
        "bn1.running_mean": (64,),
        "bn1.num_batches_tracked": (),
        "layer1.0.conv1.weight": (64, 64, 3, 3),
        "layer2.0.conv1.weight": (128, 64, 3, 3),
        "layer2.0.downsample.0.weight": (128, 64, 1, 1),
        "layer2.0.downsample.1.bias": (128,),
        "layer4.1.bn2.running_var": (512,),
        "fc.weight": (1000, 512),
        "fc.bias": (1000,),
    }
    assert expected.items() <= shapes.items()
    assert len(shapes) == 122  # torchvision's resnet18().state_dict()
    assert sum(p.numel() for p in model.parameters()) == 11_689_512
    assert not any(name.startswith("layer1.0.downsample") for name in shapes)


def test_cifar_resnet_maps_small_images_to_ten_scores():
    assert tuple(ResNet(CIFAR_RESNET).eval()(funtorch.zeros(2, 3, 32, 32)).shape) == (2, 10)


@pytest.mark.parametrize("small_images", [True, False])
def test_equals_the_torch_twin(small_images: bool, twin, same_step):
    module = twin("resnet")
    reference = module.ResNet(module.ResNetConfig(**TINY, small_images=small_images))
    model = ResNet(ResNetConfig(**TINY, small_images=small_images))
    same_step(model, reference, np.random.default_rng(0).normal(size=(3, 2, 16, 16)))


def test_evaluation_reads_the_running_statistics(twin, same_step):
    module = twin("resnet")
    reference, model = module.ResNet(module.ResNetConfig(**TINY)).eval(), ResNet(ResNetConfig(**TINY)).eval()
    same_step(model, reference, np.random.default_rng(0).normal(size=(1, 2, 16, 16)))
    assert not funtorch.any(model.bn1.running_mean)


def test_the_loss_falls():
    funtorch.manual_seed(0)
    rng = np.random.default_rng(0)
    y = funtorch.arange(12) % 3
    x = funtorch.tensor(rng.normal(size=(12, 2, 8, 8)), dtype=funtorch.float32) + y[:, None, None, None]
    model = ResNet(ResNetConfig(**TINY, small_images=True))
    optimizer = funtorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = funtorch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"blocks": (1, 2)},
            r"of one length between 1 and 4, got blocks=\(1, 2\), widths=\(64, 128, 256, 512\)",
        ),
        ({"blocks": (1,) * 5, "widths": (4,) * 5}, "of one length between 1 and 4"),
        ({"num_classes": 0}, "at least 1, got .*num_classes=0"),
    ],
)
def test_bad_configurations(options: dict, message: str):
    with pytest.raises(ValueError, match=message):
        ResNetConfig(**options)
