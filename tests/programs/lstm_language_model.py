"""A character model on an LSTM cell written by hand: states detached between windows, gradients clipped."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8
TEXT = "the cat sat on the mat and the rat sat on the cat and that was that and the cat was sad "


def build(torch, letters: int):
    nn = torch.nn

    class Cell(nn.Module):
        def __init__(self, inputs: int, width: int):
            super().__init__()
            self.weight_ih = nn.Parameter(torch.empty(4 * width, inputs))
            self.weight_hh = nn.Parameter(torch.empty(4 * width, width))
            self.bias = nn.Parameter(torch.empty(4 * width))

        def forward(self, x, state):
            h, c = state
            gates = x @ self.weight_ih.T + torch.matmul(h, self.weight_hh.T) + self.bias
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            return o.sigmoid() * c.tanh(), c

    class Model(nn.Module):
        def __init__(self, width: int = 10):
            super().__init__()
            self.embed = nn.Embedding(letters, 6)
            self.cells = nn.ModuleList([Cell(6, width), Cell(width, width)])
            self.decode = nn.Linear(width, letters)

        def forward(self, tokens, states):
            outputs = []
            for x in self.embed(tokens).unbind(1):
                for i, cell in enumerate(self.cells):
                    states[i] = cell(x, states[i])
                    x = states[i][0]
                outputs.append(x)
            return self.decode(torch.stack(outputs, dim=1)), states

    return Model().double()


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    alphabet = sorted(set(TEXT))
    tokens = torch.tensor([alphabet.index(letter) for letter in TEXT]).view(2, -1)
    model = fill(torch, build(torch, len(alphabet)), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    losses, norms = [], []
    for _ in range(2):
        states = [(torch.zeros(2, 10, dtype=torch.float64),) * 2 for _ in range(2)]
        for start in range(0, tokens.shape[1] - 8, 8):
            window = tokens[:, start : start + 9]
            states = [(h.detach(), c.detach()) for h, c in states]
            logits, states = model(window[:, :-1], states)
            loss = F.cross_entropy(logits.reshape(-1, len(alphabet)), window[:, 1:].reshape(-1))
            model.zero_grad()
            loss.backward()
            norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.35)))
            optimizer.step()
            losses.append(loss.item())
    return {"loss": losses, "gradient norm": norms, "parameters": arrays(model.named_parameters())}
