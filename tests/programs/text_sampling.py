"""A causal transformer over characters, as small GPTs are written: tied weights, top-k sampling with multinomial."""

import math

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: a key's bias has no gradient, and Adam would step by its rounding errors
TEXT = "the cat sat on the mat and the rat sat on the cat "


def build(torch, vocabulary: int, block: int = 12, width: int = 16, heads: int = 2):
    nn, F = torch.nn, torch.nn.functional

    class CausalSelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(width, dim=2)
            q, k, v = (each.view(B, T, heads, C // heads).transpose(1, 2) for each in (q, k, v))  # (B, heads, T, C / heads)
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = F.softmax(att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf")), dim=-1)
            return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), CausalSelfAttention(), nn.LayerNorm(width)
            self.mlp = nn.ModuleDict({"up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp.down(F.gelu(self.mlp["up"](self.ln_2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(block, width)
            self.h = nn.ModuleList([Block() for _ in range(2)])
            self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
            self.wte.weight = self.lm_head.weight

        def forward(self, idx, targets=None):
            x = self.wte(idx) + self.wpe(torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device))
            for each in self.h:
                x = each(x)
            logits = self.lm_head(self.ln_f(x))
            loss = None if targets is None else F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
            return logits, loss

        @torch.no_grad()
        def generate(self, idx, count: int, temperature: float = 1.0, top_k: int | None = None):
            for _ in range(count):
                logits, _ = self(idx if idx.size(1) <= block else idx[:, -block:])
                logits = logits[:, -1, :] / temperature
                if top_k is not None:
                    v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                    logits[logits < v[:, [-1]]] = -float("Inf")
                idx = torch.cat((idx, torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)), dim=1)
            return idx

    return GPT()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    letters = sorted(set(TEXT))
    data = torch.tensor([letters.index(c) for c in TEXT], dtype=torch.long)
    model = fill(torch, build(torch, len(letters)).double(), rng)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95), weight_decay=0.1)

    losses, norms = [], []
    for _ in range(10):
        at = torch.randint(len(data) - 12, (4,))
        x, y = torch.stack([data[i : i + 12] for i in at]), torch.stack([data[i + 1 : i + 13] for i in at])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    sampled = model.generate(torch.zeros(2, 1, dtype=torch.long), 14, temperature=0.8, top_k=5)
    greedy = model.generate(data[None, :3], 5, top_k=1)
    return {
        "loss": losses,
        "norm": norms,
        "sampled": sampled.numpy(),
        "greedy": greedy.numpy(),
        "parameters": arrays(model.named_parameters()),
    }
