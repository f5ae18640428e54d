"""A multi-layer perceptron: linear layers with an activation, and dropout where asked, between them."""

from dataclasses import dataclass

from .. import Tensor, nn
from ..nn import functional as F

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": F.tanh}


@dataclass(frozen=True)
class MLPConfig:
    """Sizes of an ``MLP``.

    Args:
        sizes: features of the input, of each hidden layer, and of the output; at least two, each at least 1.
        activation: one of "relu", "gelu", "silu", "tanh".
        dropout: probability, in [0, 1), of zeroing a hidden feature while training.

    Raises:
        ValueError: where a value is outside of what is said above.
    """

    sizes: tuple[int, ...] = (64, 128, 128, 10)
    activation: str = "relu"
    dropout: float = 0.0

    def __post_init__(self):
        if len(self.sizes) < 2 or min(self.sizes) < 1:
            raise ValueError(f"MLPConfig: sizes must hold at least two numbers of at least 1, got {self.sizes}")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"MLPConfig: activation must be one of {[*ACTIVATIONS]}, got {self.activation!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"MLPConfig: dropout must be in [0, 1), got {self.dropout}")


class MLP(nn.Module):
    r"""A multi-layer perceptron.

    :math:`h_0 = x,\; h_i = \sigma(W_i h_{i-1} + b_i)`, and the last layer without :math:`\sigma`.
    Parameters are named ``layers.0.weight``, ``layers.0.bias``, ``layers.1.weight`` ...

    Args:
        config: the sizes, the activation and the dropout.

    Example:
        >>> import funtorch
        >>> tuple(MLP(MLPConfig(sizes=(4, 8, 2)))(funtorch.zeros(3, 4)).shape)
        (3, 2)
    """

    def __init__(self, config: MLPConfig = MLPConfig()):
        super().__init__()
        self.config = config
        pairs = zip(config.sizes[:-1], config.sizes[1:], strict=True)
        self.layers = nn.ModuleList([nn.Linear(inputs, outputs) for inputs, outputs in pairs])

    def forward(self, x: Tensor) -> Tensor:
        """The outputs of the last layer.

        Args:
            x: (..., sizes[0]), of the parameters' dtype.

        Returns:
            (..., sizes[-1]), of the same dtype.

        Raises:
            RuntimeError: where the last axis of x is not sizes[0].
        """
        activation = ACTIVATIONS[self.config.activation]
        for layer in self.layers[:-1]:
            x = activation(layer(x))  # (..., sizes[i])
            x = F.dropout(x, self.config.dropout, training=self.training)
        return self.layers[-1](x)  # (..., sizes[-1])
