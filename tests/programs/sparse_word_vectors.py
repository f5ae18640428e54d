"""Word vectors: skip-grams streamed with negatives, then bags with padding and weights; sparse gradients, an optimiser for each kind."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 5e-5
WORDS = 12


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class SkipGram(nn.Module):
        def __init__(self):
            super().__init__()
            self.centre, self.context = nn.Embedding(WORDS, 5, sparse=True), nn.Embedding(WORDS, 5, sparse=True, padding_idx=0)

        def forward(self, centre, context, negatives):
            c, right, wrong = self.centre(centre), self.context(context), self.context(negatives)
            right = torch.sum(torch.mul(c, right), dim=1).clamp(min=-10, max=10)
            wrong = torch.bmm(wrong, c.unsqueeze(2)).squeeze(-1).clamp(min=-10, max=10)
            return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(dim=1)).mean()

    class WideAndDeep(nn.Module):
        def __init__(self):
            super().__init__()
            self.deep = nn.EmbeddingBag(WORDS, 5, mode="mean", sparse=True, include_last_offset=True, padding_idx=0)
            self.wide = nn.EmbeddingBag(WORDS, 2, mode="sum", sparse=True, padding_idx=0)
            self.out = nn.Linear(5, 2)

        def forward(self, words, offsets, weights):
            return self.out(self.deep(words, offsets)) + self.wide(words, offsets[:-1], per_sample_weights=weights)

    class Pairs(torch.utils.data.IterableDataset):
        def __init__(self, text, rng):
            self.text, self.rng = text, rng

        def __iter__(self):
            for i in range(1, len(self.text)):
                negatives = self.rng.integers(0, WORDS, 3)
                yield {
                    "centre": self.text[i - 1],
                    "context": int(self.text[i]),
                    "negatives": negatives,
                    "place": (float(i), str(i)),
                }

    return SkipGram(), WideAndDeep(), Pairs


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    grams, bags, pairs_of = build(torch)
    grams, bags = fill(torch, grams, rng), fill(torch, bags, rng)
    text = rng.integers(1, WORDS, 33)
    sparse = torch.optim.SparseAdam(list(grams.parameters()), lr=0.02)
    losses, used, places = [], [], []
    for batch in torch.utils.data.DataLoader(pairs_of(text, rng), batch_size=8):
        sparse.zero_grad()
        loss = grams(batch["centre"], batch["context"], batch["negatives"])
        loss.backward()
        sparse.step()
        losses.append(loss.item())
        used.append(grams.context.weight.grad.coalesce().indices().tolist())
        places.append(batch["place"][0].sum().item())

    words = torch.from_numpy(np.where(rng.random(30) < 0.2, 0, rng.integers(1, WORDS, 30)))
    offsets, classes = torch.tensor([0, 4, 9, 9, 20, 30]), torch.tensor([0, 1, 1, 0, 1])
    weights = torch.tensor(rng.random(30), dtype=torch.float32, requires_grad=True)
    optimizers = [
        torch.optim.SparseAdam(bags.deep.parameters(), lr=0.02),
        torch.optim.SGD(bags.wide.parameters(), lr=0.1),
        torch.optim.Adagrad([*bags.out.parameters(), weights], lr=0.1, initial_accumulator_value=0.1),
    ]
    for _ in range(8):
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(bags(words, offsets, weights), classes)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
        used.append(bags.deep.weight.grad.is_sparse and bags.deep.weight.grad.coalesce().indices().tolist())
    names = {**arrays(grams.named_parameters()), **arrays(bags.named_parameters()), "weights": weights.detach().numpy()}
    return {"loss": losses, "used": used, "places": places, "parameters": names}
