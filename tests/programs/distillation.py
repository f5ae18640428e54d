"""A student taught by a teacher's softened outputs: KL divergence with temperature, a cosine loss on features, dropout."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)

    class Net(nn.Module):
        def __init__(self, width: int, dropout: float = 0.0):
            super().__init__()
            self.features = nn.Sequential(nn.Linear(6, width), nn.ELU(), nn.Dropout(dropout), nn.Linear(width, 8))
            self.classifier = nn.Linear(8, 5)

        def forward(self, x):
            features = self.features(x)
            return self.classifier(F.relu6(features)), features

    teacher, student = fill(torch, Net(24), rng).eval(), fill(torch, Net(6, dropout=0.2), rng)
    for parameter in teacher.parameters():
        parameter.requires_grad = False
    optimizer = torch.optim.NAdam(filter(lambda p: p.requires_grad, student.parameters()), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[4, 8], gamma=0.3)
    soft, hidden = nn.KLDivLoss(reduction="batchmean"), nn.CosineEmbeddingLoss(margin=0.1)

    losses, agreements = [], []
    temperature, alpha = 3.0, 0.7
    for _ in range(12):
        student.train()
        x = torch.from_numpy(rng.normal(size=(20, 6)).astype(np.float32))
        with torch.no_grad():
            target_logits, target_features = teacher(x)
        labels = target_logits.argmax(dim=1)
        logits, features = student(x)
        softened = soft(F.log_softmax(logits / temperature, dim=1), F.softmax(target_logits / temperature, dim=1))
        same = torch.ones(20)
        same[::2] = -1
        loss = alpha * temperature**2 * softened + (1 - alpha) * F.nll_loss(F.log_softmax(logits, dim=-1), labels)
        loss = loss + 0.1 * hidden(features, target_features, same)
        student.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        student.eval()
        with torch.no_grad():
            agreements.append(torch.eq(student(x)[0].max(-1)[1], labels).sum().item() / len(x))
    return {"loss": losses, "agreement": agreements, "parameters": arrays(student.named_parameters())}
