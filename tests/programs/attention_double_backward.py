"""Double backward through causal attention: the loss holds the squared gradient by the input."""

import math

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        """Causal attention with two heads; x (B, T, 8)."""

        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(8, 24)
            self.out = nn.Linear(8, 8)
            self.register_buffer("future", torch.ones(5, 5, dtype=torch.bool).triu(diagonal=1))

        def forward(self, x):
            B, T, D = x.shape
            heads = self.qkv(x).reshape(B, T, 3, 2, D // 2).permute(2, 0, 3, 1, 4)  # (3, B, heads, T, D/2)
            q, k, v = heads.unbind(0)
            scores = q @ k.transpose(-2, -1) / math.sqrt(D // 2)  # (B, heads, T, T)
            scores = scores.masked_fill(self.future[:T, :T], float("-inf"))
            mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(B, T, D)  # (B, T, D)
            return x + self.out(mixed)

    return Attention().double()


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    losses, penalties = [], []
    for _ in range(10):
        x = torch.from_numpy(rng.normal(size=(3, 5, 8))).requires_grad_()
        heads = x[:, None]
        built_in = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True).squeeze(1)
        y = model(x)
        fit = (y - x.detach().roll(1, dims=1)).pow(2).mean() + built_in.mean()
        (slope,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        penalty = slope.square().mean()
        loss = fit + 0.01 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        penalties.append([penalty.item(), x.grad.abs().sum().item()])
    return {"loss": losses, "penalty": penalties, "parameters": arrays(model.named_parameters())}
