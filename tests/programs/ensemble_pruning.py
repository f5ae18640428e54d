"""An ensemble trained as one by vmap over stacked weights, one of it pruned, averaged by SWA, its norms set anew."""

import copy
import importlib

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def run(torch, seed: int = 0) -> dict:
    nn, F, func = torch.nn, torch.nn.functional, torch.func
    prune, swa = importlib.import_module(f"{torch.__name__}.nn.utils.prune"), torch.optim.swa_utils
    rng = np.random.default_rng(seed)

    def make():
        return fill(torch, nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1)).double(), rng)

    models = [make() for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    skeleton = copy.deepcopy(models[0]).to("meta")
    x = torch.from_numpy(rng.normal(size=(3, 16, 4)))
    y = (x[..., :1] * x[..., 1:2]).sin() + 0.1 * torch.from_numpy(rng.normal(size=(3, 16, 1)))

    def loss_of(weights, state, x, y):
        return F.mse_loss(func.functional_call(skeleton, (weights, state), (x,)), y)

    optimizer = torch.optim.RMSprop(list(parameters.values()), lr=1e-2, centered=True)
    losses = []
    for _ in range(8):
        each = torch.vmap(loss_of)(parameters, buffers, x, y)
        optimizer.zero_grad()
        each.sum().backward()
        optimizer.step()
        losses.append(each.tolist())
    grads = torch.vmap(func.grad(loss_of), in_dims=(None, None, 0, 0))(
        *({k: v[0].detach() for k, v in d.items()} for d in (parameters, buffers)), x, y
    )

    model = nn.Sequential(nn.BatchNorm1d(4), copy.deepcopy(models[0])).double()
    model[1].load_state_dict({name: value[0].detach() for name, value in parameters.items()})
    pairs = ((model[1][0], "weight"), (model[1][3], "weight"))
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.4)
    with torch.no_grad():
        model(x[0])  # after which the pruned weights are no results on a graph: these can't be copied
    averaged = swa.AveragedModel(model)
    sgd = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = swa.SWALR(sgd, swa_lr=0.02, anneal_epochs=3)
    tuned = []
    for _ in range(5):
        loss = F.smooth_l1_loss(model(x[0]), y[0], beta=0.5)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        averaged.update_parameters(model)
        scheduler.step()
        tuned.append((loss.item(), sgd.param_groups[0]["lr"]))
    swa.update_bn([x[0], x[1]], averaged)
    sparsity = [float((module.weight == 0).sum()) / module.weight.nelement() for module, _ in pairs]
    for module, name in pairs:
        prune.remove(module, name)
    return {
        "loss": losses,
        "tuned": tuned,
        "sparsity": sparsity,
        "gradients": arrays(grads.items()),
        "parameters": arrays(parameters.items()),
        "model": arrays(model.state_dict().items()),
        "average": arrays(averaged.state_dict().items()),
    }
