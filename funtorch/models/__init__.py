"""Small models to read and to start from, one a file, with the well-known parameter names."""

if __name__ == "models":
    raise ImportError(
        "import models: the folder `models` at the root of the checkout is a link, not a package. "
        "Write `import funtorch.models` instead."
    )

from .gpt import GPT, GPTConfig
from .lstm_lm import LSTMLanguageModel, LSTMLanguageModelConfig
from .mlp import MLP, MLPConfig
from .resnet import CIFAR_RESNET, RESNET18, ResNet, ResNetConfig

__all__ = [
    "CIFAR_RESNET",
    "GPT",
    "GPTConfig",
    "LSTMLanguageModel",
    "LSTMLanguageModelConfig",
    "MLP",
    "MLPConfig",
    "RESNET18",
    "ResNet",
    "ResNetConfig",
]
