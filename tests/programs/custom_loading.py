"""Bags of words of different lengths: a Dataset, a Sampler by length, a collate function, subsets, an embedding bag."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def classes(torch):
    data = torch.utils.data

    class Reviews(data.Dataset):
        def __init__(self, rng: np.random.Generator, count: int = 24):
            self.words = [rng.integers(1, 15, rng.integers(2, 9)) for _ in range(count)]
            self.labels = [int(words.mean() > 7.5) for words in self.words]

        def __len__(self):
            return len(self.words)

        def __getitem__(self, index):
            return {"words": torch.as_tensor(self.words[index]), "label": self.labels[index], "name": f"review {index}"}

    class ByLength(data.Sampler):
        def __init__(self, dataset, size: int):
            self.dataset, self.size = dataset, size

        def __iter__(self):
            order = sorted(range(len(self.dataset)), key=lambda i: (len(self.dataset[i]["words"]), i))
            batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
            for index in torch.randperm(len(batches)).tolist():
                yield batches[index]

        def __len__(self):
            return -(-len(self.dataset) // self.size)

    return Reviews, ByLength


def run(torch, seed: int = 0) -> dict:
    nn, data = torch.nn, torch.utils.data
    Reviews, ByLength = classes(torch)
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)

    def collate(samples):
        lengths = torch.tensor([len(sample["words"]) for sample in samples])
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)[:-1]])
        words = torch.cat([sample["words"] for sample in samples])
        return (
            (words, offsets),
            torch.tensor([sample["label"] for sample in samples], dtype=torch.float32),
            [sample["name"] for sample in samples],
        )

    reviews = Reviews(rng)
    train, held_out = data.random_split(reviews, [0.75, 0.25], generator=torch.Generator().manual_seed(seed))
    loader = data.DataLoader(train, batch_sampler=ByLength(train, 5), collate_fn=collate)
    test_loader = data.DataLoader(held_out, batch_size=2, collate_fn=collate, drop_last=True)
    ratio = torch.tensor([1.0 + reviews.labels[i] for i in train.indices])
    weighted = data.DataLoader(train, batch_size=6, sampler=data.WeightedRandomSampler(ratio, 12), collate_fn=collate)

    model = fill(torch, nn.Sequential(nn.EmbeddingBag(15, 6, mode="mean"), nn.Linear(6, 1)), rng)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.3)
    losses, names = [], []
    for epoch in range(3):
        for (words, offsets), labels, batch in weighted if epoch == 1 else loader:
            loss = nn.functional.binary_cross_entropy(torch.sigmoid(model[1](model[0](words, offsets))).squeeze(1), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            names.append([int(name.split()[-1]) for name in batch])
    with torch.no_grad():
        tests = [
            model[1](model[0](words, offsets)).squeeze(-1).gt(0).eq(labels).sum().item()
            for (words, offsets), labels, _ in test_loader
        ]
    everything = next(iter(data.DataLoader(data.ConcatDataset([train, held_out]), batch_size=24, collate_fn=collate)))
    return {
        "loss": losses,
        "names": names,
        "right": tests,
        "lengths": [len(loader), len(weighted), len(test_loader)],
        "all labels": everything[1].numpy(),
        "parameters": arrays(model.named_parameters()),
    }
