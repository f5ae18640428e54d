"""A bidirectional LSTM over packed sentences with a linear-chain CRF on top: forward algorithm by logsumexp, Viterbi paths."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def build(torch, words: int = 15, tags: int = 4, width: int = 6):
    nn, rnn = torch.nn, torch.nn.utils.rnn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, width)
            self.lstm = nn.LSTM(width, width // 2, num_layers=1, bidirectional=True, batch_first=True)
            self.hidden2tag = nn.Linear(width, tags)
            self.transitions = nn.Parameter(torch.randn(tags, tags))

        def emissions(self, sentences):
            packed = rnn.pack_sequence([self.embed(each) for each in sentences], enforce_sorted=False)
            states, lengths = rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
            return self.hidden2tag(states), lengths

        def log_partition(self, scores, mask):
            alpha = scores[:, 0]
            for t in range(1, scores.size(1)):
                step = torch.logsumexp(alpha[:, :, None] + self.transitions[None] + scores[:, t, None, :], dim=1)
                alpha = torch.where(mask[:, t].unsqueeze(-1), step, alpha)
            return alpha.logsumexp(dim=-1)

        def score(self, scores, gold, mask):
            emitted = scores.gather(2, gold.unsqueeze(-1)).squeeze(-1) * mask
            moved = self.transitions[gold[:, :-1], gold[:, 1:]] * mask[:, 1:]
            return emitted.sum(dim=1) + moved.sum(dim=1)

        @torch.no_grad()
        def viterbi(self, scores):
            best, back = scores[0], []
            for row in scores[1:]:
                values, index = (best.unsqueeze(1) + self.transitions).max(dim=0)
                best = values + row
                back.append(index)
            path = [int(best.argmax())]
            for index in reversed(back):
                path.append(index[path[-1]].item())
            return path[::-1]

    return Tagger()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch).double(), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.05, max_lr=0.2, step_size_up=3, cycle_momentum=False)
    sentences = [torch.from_numpy(rng.integers(0, 15, rng.integers(3, 8))) for _ in range(6)]
    gold = torch.nn.utils.rnn.pad_sequence([(words + words.roll(1)) % 4 for words in sentences], batch_first=True)

    losses, rates = [], []
    for _ in range(9):
        model.zero_grad()
        scores, lengths = model.emissions(sentences)
        mask = torch.arange(scores.size(1))[None, :] < lengths[:, None]
        loss = (model.log_partition(scores, mask) - model.score(scores, gold, mask)).mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        rates.append(optimizer.param_groups[0]["lr"])
    scores, lengths = model.emissions(sentences)
    paths = [model.viterbi(each[:length]) for each, length in zip(scores, lengths.tolist(), strict=True)]
    return {
        "loss": losses,
        "rate": rates,
        "paths": sum(paths, []),
        "lengths": lengths.numpy(),
        "parameters": arrays(model.named_parameters()),
    }
