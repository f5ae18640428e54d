"""A residual CNN with batch norm: training moves the running statistics, evaluation reads them."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(2, 6, 3, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(6)
            self.conv = nn.Conv2d(6, 6, 3, stride=2, padding=1)
            self.norm2 = nn.BatchNorm2d(6, momentum=0.3)
            self.skip = nn.Conv2d(6, 6, 1, stride=2, bias=False)
            self.head = nn.Linear(6 * 2 * 2, 4)

        def forward(self, x):
            x = F.relu(self.norm1(self.stem(x)))
            x = F.relu(self.norm2(self.conv(x)) + self.skip(x))
            return self.head(torch.flatten(F.max_pool2d(x, 2), 1))

    return Net().double()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    images = torch.from_numpy(rng.normal(size=(24, 2, 8, 8)))
    labels = torch.from_numpy(rng.integers(0, 4, 24))
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)

    losses, evaluations = [], []
    for step in range(10):
        model.train()
        rows = slice(12 * (step % 2), 12 * (step % 2) + 12)
        optimizer.zero_grad()
        loss = criterion(model(images[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            evaluations.append(criterion(model(images), labels).item())
    return {"loss": losses, "evaluation": evaluations, "state": arrays(model.state_dict().items())}
