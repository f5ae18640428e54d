"""A transformer encoder over padded sentences: a key padding mask, masked mean pooling, dropout, AdamW with warmup."""

import math

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: a key's bias has no gradient, and Adam would step by its rounding errors
WORDS, WIDTH, PAD = 20, 16, 0


def build(torch):
    nn = torch.nn

    class PositionalEncoding(nn.Module):
        def __init__(self, width: int, longest: int = 32):
            super().__init__()
            position = torch.arange(longest).unsqueeze(1)
            rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
            table = torch.zeros(1, longest, width)
            table[0, :, 0::2] = torch.sin(position * rate)
            table[0, :, 1::2] = torch.cos(position * rate)
            self.register_buffer("table", table, persistent=False)

        def forward(self, x):
            return x + self.table[:, : x.size(1)]

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(WORDS, WIDTH, padding_idx=PAD)
            self.position = PositionalEncoding(WIDTH)
            layer = nn.TransformerEncoderLayer(WIDTH, 4, 32, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)
            self.head = nn.Linear(WIDTH, 3)

        def forward(self, words):
            padding = words.eq(PAD)
            x = self.position(self.embedding(words) * math.sqrt(WIDTH))
            x = self.encoder(x, src_key_padding_mask=padding).masked_fill(padding.unsqueeze(-1), 0.0)
            return self.head(x.sum(dim=1) / (~padding).sum(dim=1, keepdim=True))

    return Classifier()


def sentences(torch, rng: np.random.Generator):
    """Padded words (16, T) and classes (16,): the class is the first word's remainder."""
    lists = [torch.from_numpy(rng.integers(1, WORDS, rng.integers(3, 9))) for _ in range(16)]
    classes = torch.tensor([int(words[0]) % 3 for words in lists])
    return torch.nn.utils.rnn.pad_sequence(lists, batch_first=True, padding_value=PAD), classes


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = fill(torch, build(torch).double(), rng)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.98), weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) ** -0.5, (step + 1) * 4**-1.5))
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    batches = [sentences(torch, rng) for _ in range(4)]

    losses, rates = [], []
    model.train()
    for step in range(10):
        words, classes = batches[step % 4]
        loss = criterion(model(words), classes)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        rates.append(scheduler.get_last_lr()[0])
    model.eval()
    with torch.no_grad():
        probabilities = torch.cat([model(words).softmax(dim=-1) for words, _ in batches])
    return {
        "loss": losses,
        "learning rate": rates,
        "probabilities": probabilities.numpy(),
        "parameters": arrays(model.named_parameters()),
    }
