"""A decoder in today's style: rotary positions as complex numbers, root-mean-square norms, grouped queries, gated linear units;
generation from a cache of keys and values, choosing among the likeliest words."""

import math

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: sampling turns a rounding error into another word
WORDS, WIDTH, HEADS, GROUPS, LENGTH = 17, 16, 4, 2, 10


def rotations(torch, width: int, length: int):
    """Unit complex numbers (T, width / 2): position times frequency as the angle."""
    frequencies = 1.0 / 100.0 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies)
    return torch.polar(torch.ones_like(angles), angles)


def turned(torch, x, by):
    """Heads (N, T, H, D), each pair of numbers turned by the angle of its position."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * by[:, None]).flatten(-2)


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Norm(nn.Module):
        def __init__(self, width: int, eps: float = 1e-6):
            super().__init__()
            self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

        def forward(self, x):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.size = WIDTH // HEADS
            self.query, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
            self.key, self.value = (nn.Linear(WIDTH, GROUPS * self.size, bias=False) for _ in range(2))
            self.register_buffer("keys", torch.zeros(0), persistent=False)
            self.register_buffer("values", torch.zeros(0), persistent=False)

        def forward(self, x, by, cached: bool):
            q, k, v = (layer(x).unflatten(-1, (-1, self.size)) for layer in (self.query, self.key, self.value))
            q, k = turned(torch, q, by), turned(torch, k, by)
            if cached:
                self.keys = k if self.keys.numel() == 0 else torch.cat((self.keys, k), dim=1)
                self.values = v if self.values.numel() == 0 else torch.cat((self.values, v), dim=1)
                k, v = self.keys, self.values
            seen = torch.ones(q.size(1), k.size(1), dtype=torch.bool).tril(k.size(1) - q.size(1))
            heads = (t.transpose(1, 2) for t in (q, k, v))
            z = F.scaled_dot_product_attention(*heads, attn_mask=seen, enable_gqa=True)
            return self.out(z.transpose(1, 2).flatten(-2))

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            hidden = 8 * math.ceil(8 * WIDTH / 3 / 8)
            self.gate, self.up = nn.Linear(WIDTH, hidden, bias=False), nn.Linear(WIDTH, hidden, bias=False)
            self.down = nn.Linear(hidden, WIDTH, bias=False)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention, self.feed = Attention(), Gated()
            self.norms = nn.ModuleDict({"attention": Norm(WIDTH), "feed": Norm(WIDTH)})

        def forward(self, x, by, cached: bool):
            x = x + self.attention(self.norms["attention"](x), by, cached)
            return x + self.feed(self.norms["feed"](x))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(WORDS, WIDTH)
            self.blocks, self.norm = nn.ModuleList(Block() for _ in range(2)), Norm(WIDTH)
            self.head = nn.Linear(WIDTH, WORDS, bias=False)
            self.head.weight = self.embed.weight
            self.by = rotations(torch, WIDTH // HEADS, 3 * LENGTH)

        def forward(self, words, start: int = 0, cached: bool = False):
            x, by = self.embed(words), self.by[start : start + words.size(1)]
            for block in self.blocks:
                x = block(x, by, cached)
            return self.head(self.norm(x))

    return Decoder().double()


def continued(torch, model, words, count: int, heat: float = 0.8, mass: float = 0.9):
    """``count`` more words: each drawn among the likeliest that have ``mass`` between them; all but new words come from the cache."""
    start = 0
    for _ in range(count):
        logits = model(words[:, start:], start, cached=True)[:, -1] / heat
        start = words.size(1)
        chances, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
        chances[chances.cumsum(-1) - chances > mass] = 0.0
        drawn = torch.multinomial(chances.div_(chances.sum(dim=-1, keepdim=True)), num_samples=1)
        words = torch.cat((words, order.gather(-1, drawn)), dim=1)
    return words


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = fill(torch, build(torch), rng)
    text = torch.from_numpy(np.cumsum(rng.integers(0, 3, 200)) % WORDS)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=5e-3, betas=(0.9, 0.95))

    losses = []
    for step in range(12):
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1.0, (step + 1) / 4)
        begins = torch.from_numpy(rng.integers(0, 200 - LENGTH - 1, 6))
        batch = text[begins[:, None] + torch.arange(LENGTH + 1)]
        logits = model(batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:]) + 1e-4 * logits.logsumexp(-1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())

    model.eval()
    with torch.inference_mode():
        words = continued(torch, model, text[:8].view(2, 4), 9)
        whole, cached = model(words[:, :-1]), model.blocks[0].attention.keys.shape[1]
    return {
        "loss": losses,
        "words": words.numpy(),
        "cached": cached,
        "whole": whole[:, -1].numpy(),
        "keys": len(model.state_dict()),
        "parameters": arrays(model.named_parameters()),
    }
