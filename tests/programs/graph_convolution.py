"""Graph convolution with a sparse normalised adjacency, then attention over edges by scatter: few labelled nodes."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4
NODES, CLASSES = 18, 3


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class GraphConvolution(nn.Module):
        def __init__(self, planes_in: int, planes_out: int):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(planes_in, planes_out))
            self.bias = nn.Parameter(torch.FloatTensor(planes_out))

        def forward(self, x, adjacency):
            return torch.sparse.mm(adjacency, torch.mm(x, self.weight)) + self.bias

    class EdgeAttention(nn.Module):
        def __init__(self, planes: int):
            super().__init__()
            self.score = nn.Linear(2 * planes, 1, bias=False)

        def forward(self, x, edges):
            source, target = edges
            score = F.leaky_relu(self.score(torch.cat([x[source], x[target]], dim=-1)).squeeze(-1), negative_slope=0.2)
            highest = torch.full((x.size(0),), -1e9).scatter_reduce(0, target, score, reduce="amax")
            weight = torch.exp(score - highest[target].detach())
            total = torch.zeros(x.size(0)).index_add_(0, target, weight)
            weight = weight / (total[target] + 1e-9)
            return torch.zeros_like(x).scatter_add_(0, target[:, None].expand(-1, x.size(1)), weight[:, None] * x[source])

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.attention, self.gc2 = GraphConvolution(5, 8), EdgeAttention(8), GraphConvolution(8, CLASSES)

        def forward(self, x, adjacency, edges):
            x = F.relu(self.gc1(x, adjacency))
            x = F.dropout(x, 0.3, training=self.training)
            x = x + self.attention(x, edges)
            return F.log_softmax(self.gc2(x, adjacency), dim=1)

    return Network()


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    group = np.arange(NODES) % CLASSES
    near = (rng.random((NODES, NODES)) < np.where(group[:, None] == group, 0.5, 0.08)) | np.eye(NODES, dtype=bool)
    edges = torch.from_numpy(np.stack(np.nonzero(near | near.T)))
    degree = torch.bincount(edges[1], minlength=NODES).float()
    values = degree.pow(-0.5)[edges[0]] * degree.pow(-0.5)[edges[1]]
    adjacency = torch.sparse_coo_tensor(edges, values, (NODES, NODES), check_invariants=True).coalesce()

    x = torch.from_numpy(rng.normal(size=(NODES, 5)) + group[:, None] * 0.3).float()
    labels, labelled = torch.from_numpy(group), torch.zeros(NODES, dtype=torch.bool)
    labelled[rng.permutation(NODES)[:9]] = True
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2, weight_decay=5e-4)

    losses, accuracies = [], []
    for _ in range(10):
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(model(x, adjacency, edges)[labelled], labels[labelled])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            predicted = model(x, adjacency, edges).max(1)[1].type_as(labels)
        losses.append(loss.item())
        accuracies.append(predicted[~labelled].eq(labels[~labelled]).double().mean().item())
    return {
        "loss": losses,
        "accuracy": accuracies,
        "edges": adjacency._nnz(),
        "dense": adjacency.to_dense().numpy(),
        "parameters": arrays(model.named_parameters()),
    }
