"""A frozen backbone with a new head; features and their gradients by hooks give maps of what a class looked at."""

from collections import OrderedDict

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-4


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    parts = OrderedDict(
        conv1=nn.Conv2d(1, 4, 3, bias=False),
        bn1=nn.BatchNorm2d(4),
        act1=nn.Hardswish(),
        conv2=nn.Conv2d(4, 6, 3, stride=2, groups=2),
        act2=nn.ReLU(),
        pool=nn.AdaptiveAvgPool2d(1),
        flat=nn.Flatten(1),
    )
    model = fill(torch, nn.Sequential(OrderedDict(backbone=nn.Sequential(parts), head=nn.Linear(6, 3))), rng)
    for parameter in model.backbone.parameters():
        parameter.requires_grad_(False)

    activations, gradients = {}, {}
    target = dict(model.named_modules())["backbone.conv2"]
    handles = [
        target.register_forward_hook(lambda module, args, output: activations.update(value=output.detach())),
        target.register_full_backward_hook(lambda module, grads_in, grads_out: gradients.update(value=grads_out[0])),
    ]
    x = torch.from_numpy(rng.normal(size=(12, 1, 10, 10))).float()
    y = torch.from_numpy(rng.integers(0, 3, 12))
    x[torch.arange(12), 0, y * 3] += 2.0
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.3, momentum=0.9)

    losses = []
    for _ in range(8):
        model.backbone.eval()
        loss = F.multi_margin_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    model.eval()
    image = x[:4].clone().requires_grad_()
    scores = model(image)
    scores.gather(1, y[:4, None]).sum().backward()
    weights = gradients["value"].mean(dim=(2, 3), keepdim=True)
    maps = F.relu((weights * activations["value"]).sum(dim=1, keepdim=True))
    maps = F.interpolate(maps, scale_factor=2.5, mode="bicubic", align_corners=False)
    flat = maps.view(len(maps), -1)
    maps = (maps - flat.min(1)[0].view(-1, 1, 1, 1)) / (flat.max(1)[0].view(-1, 1, 1, 1) + 1e-3)
    for handle in handles:
        handle.remove()
    activations.clear()
    model(x)
    saliency, _ = image.grad.abs().max(dim=1)
    return {
        "loss": losses,
        "maps": maps.numpy(),
        "saliency": saliency.numpy(),
        "hooks that stay": len(activations),
        "frozen without gradient": all(p.grad is None for p in model.backbone.parameters()),
        "head": arrays(model.head.named_parameters()),
    }
