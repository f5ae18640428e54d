"""An RNN cell in a Python loop over sequences of different lengths: each step has a new graph."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def build(torch):
    nn = torch.nn

    class Counter(nn.Module):
        """Reads one sequence and predicts its sum."""

        def __init__(self, width: int = 8):
            super().__init__()
            self.input = nn.Linear(3, width)
            self.hidden = nn.Linear(width, width, bias=False)
            self.output = nn.Linear(width, 1)
            self.start = nn.Parameter(torch.zeros(width))

        def forward(self, sequence):
            state = self.start
            for x in sequence:
                state = torch.tanh(self.input(x) + self.hidden(state))
            return self.output(state).squeeze()

    return Counter().double()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)

    losses, norms = [], []
    for step in range(12):
        sequences = [torch.from_numpy(rng.normal(size=(1 + (step + 3 * i) % 7, 3))) for i in range(4)]
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        loss = 0
        for sequence in sequences:
            loss = loss + (model(sequence) - sequence.sum()) ** 2 / len(sequences)
        loss.backward()
        norms.append(sum(p.grad.norm().item() for p in model.parameters()))
        optimizer.step()
        losses.append(loss.item())
    return {"loss": losses, "gradient norm": norms, "parameters": arrays(model.named_parameters())}
