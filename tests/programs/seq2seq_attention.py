"""A GRU encoder and decoder with additive attention: teacher forcing by a coin, ignored padding, greedy decoding."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: Adam steps by the rounding errors of gradients that are nearly 0
PAD, START, STOP, WORDS = 0, 1, 2, 12


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self, width: int):
            super().__init__()
            self.query, self.key = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
            self.score = nn.Linear(width, 1, bias=False)

        def forward(self, query, keys, mask):
            scores = self.score(torch.tanh(self.query(query).unsqueeze(1) + self.key(keys))).squeeze(-1)
            weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
            return torch.bmm(weights.unsqueeze(1), keys).squeeze(1), weights

    class Translator(nn.Module):
        def __init__(self, width: int = 10):
            super().__init__()
            self.embed = nn.Embedding(WORDS, width)
            self.encoder = nn.GRU(width, width, batch_first=True)
            self.attention = Attention(width)
            self.cell = nn.GRUCell(2 * width, width)
            self.out = nn.Linear(2 * width, WORDS)

        def encode(self, source):
            states, last = self.encoder(self.embed(source))
            return states, last[-1]

        def step(self, word, hidden, states, mask):
            context, weights = self.attention(hidden, states, mask)
            hidden = self.cell(torch.cat((self.embed(word), context), dim=-1), hidden)
            return self.out(torch.cat([hidden, context], -1)), hidden, weights

    return Translator()


def pairs(torch, rng: np.random.Generator, count: int = 8):
    """Padded sources (N, 7) and their reversals between START and STOP (N, 9)."""
    source, target = np.zeros((count, 7), dtype=np.int64), np.zeros((count, 9), dtype=np.int64)
    for row in range(count):
        words = rng.integers(3, WORDS, rng.integers(3, 8))
        source[row, : len(words)] = words
        target[row, : len(words) + 2] = [START, *words[::-1], STOP]
    return torch.LongTensor(source), torch.LongTensor(target)


def translate(torch, model, source):
    """The words (N, 8) that come out when each is the likeliest after the one before."""
    states, hidden = model.encode(source)
    word, words = torch.full((source.shape[0],), START), []
    for _ in range(8):
        logits, hidden, _ = model.step(word, hidden, states, source == PAD)
        word = logits.argmax(-1)
        words.append(word)
    return torch.stack(words, dim=1)


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch).double(), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
    source, target = pairs(torch, rng)

    losses, sharpness = [], []
    for _ in range(10):
        states, hidden = model.encode(source)
        forced, word, loss = rng.random() < 0.7, target[:, 0], torch.zeros((), dtype=torch.float64)
        for t in range(1, target.size(1)):
            logits, hidden, weights = model.step(word, hidden, states, source == PAD)
            loss = loss + criterion(logits, target[:, t])
            word = target[:, t] if forced else logits.topk(1)[1].squeeze(-1).detach()
        loss = loss / (target[:, 1:] != PAD).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        sharpness.append(weights.max(dim=-1).values.mean().item())
    with torch.no_grad():
        words = translate(torch, model, source)
    return {
        "loss": losses,
        "sharpness": sharpness,
        "words": words.numpy(),
        "right": (words == target[:, 1:]).float().mean().item(),
        "parameters": arrays(model.named_parameters()),
    }
