"""A small residual network: groups with their own rates and decay, a cosine schedule, a checkpoint to disk midway."""

import io

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 5e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    def conv3x3(planes_in: int, planes_out: int, stride: int = 1):
        return nn.Conv2d(planes_in, planes_out, kernel_size=3, stride=stride, padding=1, bias=False)

    class BasicBlock(nn.Module):
        expansion = 1

        def __init__(self, planes_in: int, planes: int, stride: int = 1):
            super().__init__()
            self.conv1, self.bn1 = conv3x3(planes_in, planes, stride), nn.BatchNorm2d(planes)
            self.conv2, self.bn2 = conv3x3(planes, planes), nn.BatchNorm2d(planes)
            self.shortcut = nn.Sequential()
            if stride != 1 or planes_in != self.expansion * planes:
                self.shortcut = nn.Sequential(nn.Conv2d(planes_in, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

        def forward(self, x):
            out = F.relu(self.bn1(self.conv1(x)), inplace=True)
            out = self.bn2(self.conv2(out))
            out += self.shortcut(x)
            return F.relu(out)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(conv3x3(3, 4), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
            self.layers = nn.Sequential(*(BasicBlock(a, b, s) for a, b, s in ((4, 4, 1), (4, 8, 2))))
            self.pool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(8, 4)

        def forward(self, x):
            x = self.pool(self.layers(self.stem(x)))
            return self.fc(torch.flatten(x, 1))

    return ResNet()


def make_optimizer(torch, model):
    """SGD with momentum: norms and biases without decay, the head ten times as fast; the schedule beside it."""
    decayed, plain = [], []
    for name, parameter in model.named_parameters():
        if not name.startswith("fc"):
            (plain if parameter.ndim <= 1 or name.endswith(".bias") else decayed).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": 5e-4},
        {"params": plain},
        {"params": model.fc.parameters(), "lr": 0.2, "nesterov": True},
    ]
    optimizer = torch.optim.SGD(groups, lr=0.02, momentum=0.9)
    return optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10, eta_min=1e-3)


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer, scheduler = make_optimizer(torch, model)
    images = torch.from_numpy(rng.normal(size=(16, 3, 8, 8)).astype("float32"))
    classes = (images.mean((1, 2, 3)) * 40).long().clamp(-2, 1) + 2

    losses, rates, right = [], [], []
    for step in range(10):
        if step == 5:  # another process goes on from here
            file = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": scheduler.state_dict()}, file)
            file.seek(0)
            saved = torch.load(file, map_location="cpu", weights_only=True)
            model = build(torch)
            model.load_state_dict(saved["model"])
            optimizer, scheduler = make_optimizer(torch, model)
            optimizer.load_state_dict(saved["optimizer"])
            scheduler.load_state_dict(saved["step"])
        model.train()
        outputs = model(images)
        loss = torch.nn.CrossEntropyLoss()(outputs, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        _, predicted = outputs.max(1)
        losses.append(loss.item())
        rates.append([group["lr"] for group in optimizer.param_groups])
        right.append(predicted.eq(classes).sum().item())
    return {"loss": losses, "rates": rates, "right": right, "state": arrays(model.state_dict().items())}
