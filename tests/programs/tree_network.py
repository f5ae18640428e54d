"""A recursive network over random binary trees: the structure of each graph is that of its tree."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8
WORDS = 10


def random_tree(rng: np.random.Generator, depth: int):
    """A word, or a pair of trees at most ``depth`` deep."""
    if depth == 0 or rng.random() < 0.25:
        return int(rng.integers(WORDS))
    return random_tree(rng, depth - 1), random_tree(rng, depth - 1)


def total(tree) -> int:
    return tree if isinstance(tree, int) else total(tree[0]) + total(tree[1])


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class TreeNet(nn.Module):
        def __init__(self, width: int = 6):
            super().__init__()
            self.words = nn.Embedding(WORDS, width)
            self.join = nn.Linear(2 * width, 2 * width)
            self.score = nn.Linear(width, 2)

        def encode(self, tree):
            if isinstance(tree, int):
                return self.words(torch.tensor(tree))
            left, right = (self.encode(branch) for branch in tree)
            value, gate = self.join(torch.cat([left, right])).chunk(2)
            gate = torch.sigmoid(gate)
            return gate * torch.tanh(value) + (1 - gate) * (left + right) / 2

        def forward(self, tree):
            return F.log_softmax(self.score(self.encode(tree)), dim=-1)

    return TreeNet().double()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

    losses = []
    for step in range(12):
        trees = [random_tree(rng, depth=1 + step % 4) for _ in range(3)]
        labels = torch.tensor([total(tree) % 2 for tree in trees])
        optimizer.zero_grad()
        loss = torch.nn.functional.nll_loss(torch.stack([model(tree) for tree in trees]), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"loss": losses, "parameters": arrays(model.named_parameters())}
