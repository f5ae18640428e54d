"""The networks that the subjects time, for torch and funtorch alike. Importing this costs nothing: start-up is timed with it."""

from types import ModuleType
from typing import Any, NamedTuple


def mlp(torch: ModuleType) -> Any:
    """64-128-128-10, relu between."""
    nn = torch.nn
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


def digits_cnn(torch: ModuleType) -> Any:
    """Convolutions 1-16-32 over 8x8 images, each with relu and pooling, and one linear layer."""
    nn = torch.nn
    first = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(32 * 2 * 2, 10))


def large_cnn(torch: ModuleType) -> Any:
    """Convolutions 1-32-64 over 28x28 images, relu, one pooling, and linear layers of 128 and 10: 1.2 million parameters."""
    nn = torch.nn
    convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(64 * 12 * 12, 128), nn.ReLU(), nn.Linear(128, 10))


def transformer(torch: ModuleType) -> Any:
    """Two encoder layers of width 64 with 4 heads over 16 places, each place classified."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(16 * 64, 10))


class Input(NamedTuple):
    """A network and the shape of its batch."""

    build: Any
    shape: tuple[int, ...]


FIRST_STEPS = {
    "MLP": Input(mlp, (32, 64)),
    "digits CNN": Input(digits_cnn, (64, 1, 8, 8)),
    "2-layer transformer": Input(transformer, (8, 16, 64)),
}
