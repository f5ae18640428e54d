"""The networks and batches that several subjects time: for torch and funtorch alike, and by hand in JAX."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import jax
import numpy as np
import optax
from networks import digits_cnn, large_cnn, mlp


def jax_mlp(p: list[jax.Array], x: jax.Array) -> jax.Array:
    """``mlp`` on its parameters in their order."""
    x = jax.nn.relu(x @ p[0].T + p[1])
    x = jax.nn.relu(x @ p[2].T + p[3])
    return x @ p[4].T + p[5]


def jax_digits_cnn(p: list[jax.Array], x: jax.Array) -> jax.Array:
    """``digits_cnn`` on its parameters in their order."""
    for weight, bias in ((p[0], p[1]), (p[2], p[3])):
        x = jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME") + bias[:, None, None]
        x = jax.lax.reduce_window(jax.nn.relu(x), -np.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return x.reshape(len(x), -1) @ p[4].T + p[5]


def jax_large_cnn(p: list[jax.Array], x: jax.Array) -> jax.Array:
    """``large_cnn`` on its parameters in their order."""
    for weight, bias in ((p[0], p[1]), (p[2], p[3])):
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, weight, (1, 1), "VALID") + bias[:, None, None])
    x = jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jax.nn.relu(x.reshape(len(x), -1) @ p[4].T + p[5]) @ p[6].T + p[7]


def jax_loss(network: Callable, p: list[jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    """The mean cross-entropy of ``network``'s scores."""
    return optax.softmax_cross_entropy_with_integer_labels(network(p, x), y).mean()


@dataclass(frozen=True)
class Workload:
    """A network, the same by hand in JAX, the sizes of its parameters, and the shape of its batch."""

    name: str
    build: Callable[[ModuleType], object]
    by_hand: Callable[[list[jax.Array], jax.Array], jax.Array]
    sizes: list[tuple[int, ...]]
    shape: tuple[int, ...]

    def batch(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs of ``shape`` in float32, and labels in [0, 10)."""
        rng = np.random.default_rng(0)
        return rng.normal(size=self.shape).astype(np.float32), rng.integers(0, 10, self.shape[0])

    def weights(self) -> list[np.ndarray]:
        """Starting weights in float32, in the order of ``parameters()``."""
        rng = np.random.default_rng(1)
        return [(rng.normal(size=size) / np.prod(size[1:]) ** 0.5).astype(np.float32) for size in self.sizes]

    def model(self, torch: ModuleType):
        """The network in ``torch``, with ``weights``."""
        model = self.build(torch)
        with torch.no_grad():
            for parameter, value in zip(model.parameters(), self.weights(), strict=True):
                parameter.copy_(torch.from_numpy(value))
        return model


MLP_SIZES = [(128, 64), (128,), (128, 128), (128,), (10, 128), (10,)]
CNN_SIZES = [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 128), (10,)]
MLP = Workload("MLP 64-128-128-10, batch 32", mlp, jax_mlp, MLP_SIZES, (32, 64))
DIGITS_CNN = Workload("digits CNN 1-16-32, batch 64", digits_cnn, jax_digits_cnn, CNN_SIZES, (64, 1, 8, 8))
LARGE_SIZES = [(32, 1, 3, 3), (32,), (64, 32, 3, 3), (64,), (128, 9216), (128,), (10, 128), (10,)]
LARGE_CNN = Workload("CNN of 1.2M parameters, batch 64, 28x28", large_cnn, jax_large_cnn, LARGE_SIZES, (64, 1, 28, 28))
