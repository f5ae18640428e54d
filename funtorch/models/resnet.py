"""Residual networks of basic blocks, for small and for large images, with torchvision's parameter names.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2015: tables 1 and 6.
"""

from dataclasses import dataclass

from .. import Tensor, nn
from ..nn import functional as F


@dataclass(frozen=True)
class ResNetConfig:
    """Shape of a ``ResNet``.

    Args:
        blocks: number of basic blocks in each stage, at most four stages.
        widths: channels of each stage, as many as there are stages.
        num_classes: features of the output.
        in_channels: channels of the images.
        small_images: a 3x3 first convolution and no pooling, for 32x32 images; else 7x7 by 2, and pooling.

    Raises:
        ValueError: where blocks and widths are not of one length between 1 and 4, or a number is below 1.
    """

    blocks: tuple[int, ...] = (2, 2, 2, 2)
    widths: tuple[int, ...] = (64, 128, 256, 512)
    num_classes: int = 1000
    in_channels: int = 3
    small_images: bool = False

    def __post_init__(self):
        if len(self.blocks) != len(self.widths) or not 1 <= len(self.blocks) <= 4:
            raise ValueError(
                f"ResNetConfig: blocks and widths must be of one length between 1 and 4, "
                f"got blocks={self.blocks}, widths={self.widths}"
            )
        if min(*self.blocks, *self.widths, self.num_classes, self.in_channels) < 1:
            raise ValueError(f"ResNetConfig: every number must be at least 1, got {self}")


RESNET18 = ResNetConfig()
CIFAR_RESNET = ResNetConfig(blocks=(3, 3, 3), widths=(16, 32, 64), num_classes=10, small_images=True)


class BasicBlock(nn.Module):
    r"""Two 3x3 convolutions beside a shortcut: :math:`z = \mathrm{relu}(f(x) + s(x))`.

    Args:
        in_channels: channels of the input.
        channels: channels of the output.
        stride: the first convolution's; with 2 the output has half the height and width.
    """

    def __init__(self, in_channels: int, channels: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or in_channels != channels:
            projection = nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        """x (N, in_channels, H, W) to (N, channels, H / stride, W / stride), rounded up."""
        shortcut = x if self.downsample is None else self.downsample(x)  # (N, C, H', W')
        x = F.relu(self.bn1(self.conv1(x)))  # (N, C, H', W')
        return F.relu(self.bn2(self.conv2(x)) + shortcut)


class ResNet(nn.Module):
    """A residual network.

    Parameters are named ``conv1.weight``, ``bn1.weight``, ``layer1.0.conv1.weight`` ... as in torchvision.

    Args:
        config: ``RESNET18``, ``CIFAR_RESNET``, or one's own.

    Example:
        >>> import funtorch
        >>> tuple(ResNet(CIFAR_RESNET)(funtorch.zeros(2, 3, 32, 32)).shape)
        (2, 10)
    """

    def __init__(self, config: ResNetConfig = CIFAR_RESNET):
        super().__init__()
        self.config = config
        width = config.widths[0]
        kernel, stride, padding = (3, 1, 1) if config.small_images else (7, 2, 3)
        self.conv1 = nn.Conv2d(config.in_channels, width, kernel, stride=stride, padding=padding, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        for i, (count, channels) in enumerate(zip(config.blocks, config.widths, strict=True)):
            first = BasicBlock(width, channels, stride=1 if i == 0 else 2)
            rest = [BasicBlock(channels, channels, stride=1) for _ in range(count - 1)]
            self.add_module(f"layer{i + 1}", nn.Sequential(first, *rest))
            width = channels
        self.fc = nn.Linear(width, config.num_classes)
        self.apply(initialise)

    def forward(self, x: Tensor) -> Tensor:
        """Class scores of images.

        Args:
            x: (N, C, H, W), of the parameters' dtype.

        Returns:
            (N, num_classes), of the same dtype.

        Raises:
            RuntimeError: where x has other than in_channels channels.
        """
        x = F.relu(self.bn1(self.conv1(x)))  # (N, widths[0], H', W')
        if not self.config.small_images:
            x = F.max_pool2d(x, 3, stride=2, padding=1)  # (N, widths[0], H' / 2, W' / 2)
        for i in range(len(self.config.blocks)):
            x = self.get_submodule(f"layer{i + 1}")(x)  # (N, widths[i], H' / 2**i, W' / 2**i)
        return self.fc(x.mean(dim=(2, 3)))  # (N, num_classes)


def initialise(module: nn.Module) -> None:
    """Normal values of variance ``2 / fan_out`` for convolutions; other modules keep their defaults."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
