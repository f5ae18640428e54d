"""Compiled training steps with Adam of a transformer, where arithmetic counts, and of a deep tiny MLP, where calls do.

Beside the same step by hand in JAX and optax, jitted and donating, and beside torch with loss and optimiser compiled.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
from timing import Effort, Row, agree, measure

import funtorch

BATCH, LENGTH, WIDTH, HEADS, LAYERS, TOKENS = 16, 64, 128, 4, 4, 256
DEPTH, TINY = 50, 8
RATE = 1e-3
HAND_TARGET, TORCH_TARGET = 1.05, 1.0


def transformer(torch: ModuleType) -> Any:
    """A decoder of 4 layers, width 128, with 4 heads, over 64 tokens of 256 kinds."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm_1, self.heads = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
            self.join, self.norm_2 = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            heads = self.heads(self.norm_1(x)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
            q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)  # (B, heads, T, D / heads) each
            z = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.join(z.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
            return x + self.down(nn.functional.gelu(self.up(self.norm_2(x)), approximate="tanh"))

    return nn.Sequential(
        nn.Embedding(TOKENS, WIDTH), *(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS)
    )


def deep_mlp(torch: ModuleType) -> Any:
    """50 layers of width 8."""
    nn = torch.nn
    return nn.Sequential(*(part for _ in range(DEPTH) for part in (nn.Linear(TINY, TINY), nn.Tanh())))


def jax_transformer(p: list[jax.Array], tokens: jax.Array) -> jax.Array:
    """``transformer`` on its parameters in their order."""
    x = p[0][tokens]  # (B, T, D)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for layer in range(LAYERS):
        w = p[1 + 12 * layer : 13 + 12 * layer]
        heads = _linear(_norm(x, *w[:2]), *w[2:4]).reshape(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.transpose(2, 0, 3, 1, 4)
        scores = jnp.where(mask, q @ k.swapaxes(-1, -2) / (WIDTH // HEADS) ** 0.5, -jnp.inf)
        z = jax.nn.softmax(scores) @ v  # (B, heads, T, D / heads)
        x = x + _linear(z.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH), *w[4:6])
        x = x + _linear(jax.nn.gelu(_linear(_norm(x, *w[6:8]), *w[8:10])), *w[10:12])
    return _linear(_norm(x, *p[-4:-2]), *p[-2:])


def _linear(x: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
    return x @ weight.T + bias


def _norm(x: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


def jax_deep_mlp(p: list[jax.Array], x: jax.Array) -> jax.Array:
    """``deep_mlp`` on its parameters in their order."""
    for layer in range(DEPTH):
        x = jnp.tanh(_linear(x, *p[2 * layer : 2 * layer + 2]))
    return x


@dataclass(frozen=True)
class Network:
    """A network, the same by hand in JAX, its loss in both, and its batch."""

    name: str
    build: Callable[[ModuleType], Any]
    by_hand: Callable[[list[jax.Array], jax.Array], jax.Array]
    batch: tuple[np.ndarray, np.ndarray]
    target: float | None

    def model(self, torch: ModuleType) -> Any:
        """The network in ``torch``, with the same weights for all."""
        model, rng = self.build(torch), np.random.default_rng(1)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
                elif parameter.ndim > 1:
                    value = rng.normal(size=tuple(parameter.shape)) / parameter.shape[1] ** 0.5
                    parameter.copy_(torch.from_numpy(value.astype(np.float32)))
        return model

    def weights(self) -> list[np.ndarray]:
        return [p.detach().numpy() for p in self.model(torch).parameters()]


def _sentences() -> tuple[np.ndarray, np.ndarray]:
    tokens = np.random.default_rng(0).integers(0, TOKENS, (BATCH, LENGTH + 1))
    return tokens[:, :-1].copy(), tokens[:, 1:].copy()


def _points() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, TINY)).astype(np.float32), rng.normal(size=(4, TINY)).astype(np.float32)


def loss_of(torch: ModuleType, out: Any, y: Any) -> Any:
    """Cross-entropy for classes, mean square for numbers."""
    if out.ndim == 3:
        return torch.nn.functional.cross_entropy(out.reshape(-1, TOKENS), y.reshape(-1))
    return ((out - y) ** 2).mean()


def jax_loss_of(by_hand: Callable, p: list[jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    """The same by hand."""
    out = by_hand(p, x)
    if out.ndim == 3:
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()
    return ((out - y) ** 2).mean()


NETWORKS = (
    Network(
        f"{LAYERS}-layer transformer, d {WIDTH}, T {LENGTH}, batch {BATCH}",
        transformer,
        jax_transformer,
        _sentences(),
        HAND_TARGET,
    ),
    Network(f"{DEPTH}-layer MLP, width {TINY}", deep_mlp, jax_deep_mlp, _points(), None),
)


def rows(effort: Effort) -> Iterator[Row]:
    for network in NETWORKS:
        name = f"compiled Adam step: {network.name}"
        contenders = {"funtorch": compiled(network), "JAX": by_hand(network), "torch": compiled_torch(network)}
        agree(name, {peer: [float(run()[0]) for _ in range(4)] for peer, run in contenders.items()})
        times = measure(contenders, effort)
        yield Row(name, times["funtorch"], "jit + optax", times["JAX"], network.target)
        yield Row(name, times["funtorch"], "torch.compile", times["torch"], TORCH_TARGET)


def compiled(network: Network) -> Callable:
    """The step in PyTorch's style, compiled as one program."""
    model, (x, y) = network.model(funtorch), map(funtorch.from_numpy, network.batch)
    parameters = list(model.parameters())
    optimizer = funtorch.optim.Adam(parameters, lr=RATE)

    @funtorch.compile
    def train(x, y):
        optimizer.zero_grad()
        loss = loss_of(funtorch, model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return lambda: [train(x, y), *parameters]


def by_hand(network: Network) -> Callable:
    """The step as one would write it in JAX; parameters and the optimiser's state are donated."""
    transformation = optax.adam(RATE)
    loss_and_grads = jax.value_and_grad(partial(jax_loss_of, network.by_hand))

    @partial(jax.jit, donate_argnums=(0, 1))
    def train(parameters, state, x, y):
        loss, grads = loss_and_grads(parameters, x, y)
        updates, state = transformation.update(grads, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    parameters, batch = jax.tree.map(jnp.array, (network.weights(), network.batch))
    state = transformation.init(parameters)

    def run() -> list:
        nonlocal parameters, state
        parameters, state, loss = train(parameters, state, *batch)
        return [loss, *parameters]

    return run


def compiled_torch(network: Network) -> Callable:
    """The step in torch: loss and optimiser compiled, the backward pass with the loss."""
    model, (x, y) = network.model(torch), map(torch.from_numpy, network.batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    loss_fn, update = torch.compile(lambda x, y: loss_of(torch, model(x), y)), torch.compile(optimizer.step)

    def run() -> list:
        optimizer.zero_grad()
        loss = loss_fn(x, y)
        loss.backward()
        update()
        return [loss.detach()]

    return run
