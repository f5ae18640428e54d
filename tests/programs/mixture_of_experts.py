"""Experts chosen by a noisy top-k gate, each on its own rows (index_add back), a balance loss; then low-rank adapters alone."""

import math

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Expert(nn.Module):
        def __init__(self):
            super().__init__()
            self.w1, self.w2, self.w3 = nn.Linear(6, 8, bias=False), nn.Linear(8, 6, bias=False), nn.Linear(6, 8, bias=False)

        def forward(self, x):
            return self.w2(F.silu(self.w1(x)) * self.w3(x))

    class RMSNorm(nn.Module):
        def __init__(self, width: int, eps: float = 1e-6):
            super().__init__()
            self.eps, self.weight = eps, nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight

    class Mixture(nn.Module):
        def __init__(self, experts: int = 4, chosen: int = 2):
            super().__init__()
            self.norm, self.gate = RMSNorm(6), nn.Linear(6, experts, bias=False)
            self.experts, self.chosen = nn.ModuleList(Expert() for _ in range(experts)), chosen

        def forward(self, x):
            flat = self.norm(x).view(-1, x.shape[-1])
            logits = self.gate(flat)
            weights, selected = torch.topk(logits.softmax(dim=-1, dtype=torch.float), self.chosen, dim=-1)
            weights = weights / weights.sum(dim=-1, keepdim=True)
            out = torch.zeros_like(flat)
            mask = F.one_hot(selected, num_classes=len(self.experts)).permute(2, 1, 0)  # (experts, chosen, rows)
            for index, expert in enumerate(self.experts):
                place, row = torch.where(mask[index])
                if row.numel():
                    out.index_add_(0, row, expert(flat[row]) * weights[row, place, None])
            share = mask.float().sum(1).mean(-1)
            balance = len(self.experts) * (share * logits.softmax(-1).mean(0)).sum()
            return x + out.view_as(x), balance

    class LoRA(nn.Module):
        def __init__(self, base, rank: int = 2, alpha: int = 4):
            super().__init__()
            self.base, self.scaling = base.requires_grad_(False), alpha / rank
            self.lora_A, self.lora_B = (
                nn.Parameter(base.weight.new_empty(rank, base.in_features)),
                nn.Parameter(base.weight.new_zeros(base.out_features, rank)),
            )
            nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

        def forward(self, x):
            return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    return Mixture(), LoRA


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model, LoRA = build(torch)
    model = fill(torch, model, rng)
    x = torch.from_numpy(rng.normal(size=(3, 8, 6))).float()
    y = torch.einsum("btd,de->bte", x, torch.from_numpy(rng.normal(size=(6, 6))).float()).tanh()

    losses, balances = [], []
    optimizer = torch.optim.Adafactor(model.parameters(), lr=0.02)
    for step in range(10):
        if step == 6:  # the experts are frozen, and adapters learn
            model.requires_grad_(False)
            for name, module in list(model.named_modules()):
                for child, layer in list(module.named_children()):
                    if isinstance(layer, nn.Linear) and child in ("w1", "w2"):
                        setattr(model.get_submodule(name), child, LoRA(layer))
            optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=0.02)
        out, balance = model(x)
        loss = F.mse_loss(out, y) + 0.01 * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        balances.append(balance.item())
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    merged = {
        name: layer.base.weight + layer.scaling * layer.lora_B @ layer.lora_A
        for name, layer in model.named_modules()
        if isinstance(layer, LoRA)
    }
    return {
        "loss": losses,
        "balance": balances,
        "trained": [p.numel() for p in trained.values()],
        "merged": arrays(merged.items()),
        "parameters": arrays(model.named_parameters()),
    }
