"""Whole training steps: every optimiser, schedules, clipping, accumulation, averages, several models at once."""

import copy

import pytest
from harness import Cases, Plan, batch, check, labelled, net, parameter, tensor

import funtorch
from funtorch import nn, optim

cases = Cases()
cross_entropy = nn.functional.cross_entropy


def classifier(optimizer, *, model=None, between=None, set_to_none=True, finish=None):
    """A plan of training steps by ``optimizer(parameters)``."""
    model = net() if model is None else model
    opt = optimizer(model.parameters())

    def step(x, y):
        opt.zero_grad(set_to_none=set_to_none)
        loss = cross_entropy(model(x), y)
        loss.backward()
        if finish is not None:
            finish(model)
        opt.step()
        return loss

    return Plan(
        step, labelled(), {"model": model, "opt": opt}, (lambda i: None) if between is None else lambda i: between(i, model, opt)
    )


OPTIMISERS = {
    "sgd": lambda ps: optim.SGD(ps, lr=0.1),
    "momentum": lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "adam": lambda ps: optim.Adam(ps, lr=0.01),
    "amsgrad": lambda ps: optim.Adam(ps, lr=0.01, amsgrad=True, weight_decay=0.1),
    "adamw": lambda ps: optim.AdamW(ps, lr=0.01),
    "adagrad": lambda ps: optim.Adagrad(ps, lr=0.1),
    "adadelta": lambda ps: optim.Adadelta(ps, lr=1.0),
    "adamax": lambda ps: optim.Adamax(ps, lr=0.01),
    "asgd": lambda ps: optim.ASGD(ps, lr=0.05),
    "nadam": lambda ps: optim.NAdam(ps, lr=0.01),
    "radam": lambda ps: optim.RAdam(ps, lr=0.01),
    "rmsprop": lambda ps: optim.RMSprop(ps, lr=0.01, momentum=0.5, centered=True),
    "rprop": lambda ps: optim.Rprop(ps, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimiser(name):
    check(lambda: classifier(OPTIMISERS[name]), 8)


@cases(8)
def gradients_zeroed_in_place():
    return classifier(OPTIMISERS["momentum"], set_to_none=False)


@cases(8)
def a_rate_set_between_calls():
    def between(i, model, opt):
        opt.param_groups[0]["lr"] = 0.1 / (i + 1)

    return classifier(OPTIMISERS["momentum"], between=between)


@cases(8)
def betas_set_between_calls():
    def between(i, model, opt):
        opt.param_groups[0]["betas"] = (0.9 - 0.01 * i, 0.99)

    return classifier(OPTIMISERS["adam"], between=between)


@cases(8)
def a_rate_that_is_a_tensor():
    rate = funtorch.tensor(0.1)
    plan = classifier(lambda ps: optim.SGD(ps, lr=rate), between=lambda i, model, opt: rate.mul_(0.9))
    return plan


@cases(4)
def options_set_between_calls():
    def between(i, model, opt):
        if i == 5:
            opt.param_groups[0].update(weight_decay=0.1, nesterov=False)

    return classifier(OPTIMISERS["momentum"], between=between)


@cases(8)
def a_schedule_between_calls():
    held = {}

    def between(i, model, opt):
        if not held:
            held["schedule"] = optim.lr_scheduler.ExponentialLR(opt, 0.9)
        held["schedule"].step()

    return classifier(OPTIMISERS["sgd"], between=between)


def scheduled(make):
    model = net()
    opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = make(opt)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        schedule.step()
        return loss

    return Plan(step, labelled(), {"model": model, "opt": opt, "rate": lambda: schedule.get_last_lr()})


SCHEDULES = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, 3, 0.5),
    "CosineAnnealingLR": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 8),
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e)),
    "OneCycleLR": lambda o: optim.lr_scheduler.OneCycleLR(o, 0.2, total_steps=20),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_inside(name):
    check(lambda: scheduled(SCHEDULES[name]), 8)


def test_a_schedule_in_verified_calls():
    def rates(wrap):
        w = parameter(2)
        opt = optim.SGD([w], lr=0.1)
        schedule = optim.lr_scheduler.StepLR(opt, 2, 0.5)

        def step():
            opt.zero_grad()
            (w * w).sum().backward()
            opt.step()
            schedule.step()

        run = wrap(step)
        found = []
        for _ in range(8):
            run()
            found += [*w.tolist(), *schedule.get_last_lr()]
        return found

    assert rates(lambda f: funtorch.compile(f, verify=3)) == pytest.approx(rates(lambda f: f), rel=1e-12)


@cases(8)
def clipped_by_norm():
    return classifier(OPTIMISERS["sgd"], finish=lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1))


@cases(8)
def clipped_by_value():
    return classifier(OPTIMISERS["adam"], finish=lambda m: nn.utils.clip_grad_value_(m.parameters(), 0.05))


@cases(8)
def batch_norm():
    return classifier(OPTIMISERS["momentum"], model=net(norm=True))


@cases(8)
def dropout_and_batch_norm():
    return classifier(OPTIMISERS["adam"], model=net(norm=True, drop=0.5))


@cases(5)
def evaluation_between_training():
    return classifier(OPTIMISERS["sgd"], model=net(norm=True, drop=0.3), between=lambda i, model, opt: model.train(i % 3 != 1))


@cases(8)
def two_optimisers():
    model, head = net(classes=3), parameter(3, 2)
    a, b = optim.SGD(model.parameters(), lr=0.1, momentum=0.5), optim.Adam([head], lr=0.05)

    def step(x, y):
        a.zero_grad()
        b.zero_grad()
        loss = cross_entropy(model(x) @ head, y)
        loss.backward()
        a.step()
        b.step()
        return loss.detach()

    return Plan(step, labelled(), {"model": model, "head": head, "a": a, "b": b})


@cases(8)
def groups_of_parameters():
    model = net()
    parts = [{"params": model[0].parameters(), "lr": 0.2}, {"params": model[3].parameters()}]
    opt = optim.SGD(parts, lr=0.05, momentum=0.9)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        return loss

    def between(i):
        opt.param_groups[1]["lr"] *= 0.9

    return Plan(step, labelled(), {"model": model, "opt": opt}, between)


@cases(5)
def a_group_added():
    first, extra = parameter(3), parameter(3, seed=1)
    opt = optim.SGD([first], lr=0.1)

    def step(x):
        opt.zero_grad()
        ((first + extra) * x).sum().sin().backward()
        opt.step()

    def between(i):
        if i == 4:
            opt.add_param_group({"params": [extra], "lr": 0.3})

    return Plan(step, batch(3), {"first": first, "extra": extra, "opt": opt}, between)


@cases(6)
def parameters_frozen_in_between():
    def between(i, model, opt):
        model[0].requires_grad_(i % 6 < 3)

    return classifier(OPTIMISERS["sgd"], between=between)


@cases(8)
def accumulation_over_calls():
    model = net()
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        loss = cross_entropy(model(x), y) / 2
        loss.backward()
        return loss

    def between(i):
        if i % 2:
            opt.step()
            opt.zero_grad(set_to_none=False)

    return Plan(step, labelled(), {"model": model}, between)


@cases(4)
def accumulation_by_a_flag():
    model = net()
    opt = optim.Adam(model.parameters(), lr=0.01)

    def step(x, y, last):
        loss = cross_entropy(model(x), y) / 2
        loss.backward()
        if last:
            opt.step()
            opt.zero_grad()
        return loss

    return Plan(step, lambda i: (*labelled()(i), i % 2 == 1), {"model": model, "opt": opt})


@cases(8)
def accumulation_inside():
    model = net()
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        opt.zero_grad()
        total = 0.0
        for part, labels in zip(x.split(2), y.split(2), strict=True):
            loss = cross_entropy(model(part), labels)
            loss.backward()
            total = total + loss.detach()
        opt.step()
        return total

    return Plan(step, labelled(), {"model": model})


@cases(8)
def exponential_moving_average():
    model = net()
    mean = copy.deepcopy(model).requires_grad_(False)
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        with funtorch.no_grad():
            for slow, fast in zip(mean.parameters(), model.parameters(), strict=True):
                slow.lerp_(fast, 0.1)
        return loss

    return Plan(step, labelled(), {"model": model, "mean": mean})


@cases(8)
def a_teacher_and_a_student():
    teacher, student = net(seed=1).eval(), net(drop=0.2)
    opt = optim.AdamW(student.parameters(), lr=0.01)

    def step(x, y):
        opt.zero_grad()
        with funtorch.no_grad():
            target = teacher(x).softmax(-1)
        loss = cross_entropy(student(x), target)
        loss.backward()
        opt.step()
        return loss

    return Plan(step, labelled(), {"teacher": teacher, "student": student})


@cases(8)
def generator_and_discriminator():
    make, judge = net(classes=3, seed=1), net(classes=1, seed=2)
    a, b = optim.Adam(make.parameters(), lr=0.01), optim.Adam(judge.parameters(), lr=0.01)

    def step(real, _):
        fake = make(funtorch.randn(5, 3))
        b.zero_grad()
        loss_b = nn.functional.softplus(judge(fake.detach())).mean() + nn.functional.softplus(-judge(real)).mean()
        loss_b.backward()
        b.step()
        a.zero_grad()
        loss_a = nn.functional.softplus(-judge(fake)).mean()
        loss_a.backward()
        a.step()
        return loss_a, loss_b

    return Plan(step, labelled(), {"make": make, "judge": judge, "a": a, "b": b})


@cases(4)
def a_step_skipped_where_the_loss_is_large():
    model = net()
    opt = optim.SGD(model.parameters(), lr=0.5)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(model(x), y)
        if loss > 0.68:
            return loss, "skipped"
        loss.backward()
        opt.step()
        return loss, "done"

    return Plan(step, lambda i: labelled()(i % 3), {"model": model})


@cases(8)
def a_state_dict_loaded_between_calls():
    kept = {}

    def between(i, model, opt):
        if i == 1:
            kept["model"], kept["opt"] = copy.deepcopy(model.state_dict()), copy.deepcopy(opt.state_dict())
        if i == 6:
            model.load_state_dict(kept["model"])

    return classifier(OPTIMISERS["adam"], between=between)


@cases(5)
def an_optimisers_state_loaded_between_calls():
    kept = {}

    def between(i, model, opt):
        if i == 1:
            kept["opt"] = copy.deepcopy(opt.state_dict())
        if i == 5:
            opt.load_state_dict(kept["opt"])

    return classifier(OPTIMISERS["adam"], between=between)


@cases(8)
def a_gradient_penalty():
    model = net(classes=1)
    opt = optim.SGD(model.parameters(), lr=0.05)

    def step(x):
        x.requires_grad_()
        (g,) = funtorch.autograd.grad(model(x).sum(), x, create_graph=True)
        opt.zero_grad()
        loss = ((g.norm(dim=1) - 1) ** 2).mean()
        loss.backward()
        opt.step()
        return loss.detach()

    return Plan(step, batch(4, 3), {"model": model})


@cases(8)
def a_loop_of_steps_inside():
    w = parameter(3)
    opt = optim.SGD([w], lr=0.1, momentum=0.9)

    def step(x):
        for _ in range(3):
            opt.zero_grad()
            loss = ((w * x).sum() - 1) ** 2
            loss.backward()
            opt.step()
        return loss

    return Plan(step, batch(3), {"w": w, "opt": opt})


@cases(8)
def a_training_loop_over_batches():
    model = net()
    opt = optim.Adam(model.parameters(), lr=0.01)

    def step(xs, ys):
        losses = []
        for x, y in zip(xs, ys, strict=True):
            opt.zero_grad()
            loss = cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        return funtorch.stack(losses)

    def args(i):
        parts = [labelled()(10 * i + k) for k in range(3)]
        return [x for x, _ in parts], [y for _, y in parts]

    return Plan(step, args, {"model": model, "opt": opt})


@cases(8)
def a_recurrent_network():
    model = nn.GRU(3, 4, batch_first=True)
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        opt.zero_grad()
        out, state = model(x)
        (out.sum() + state.pow(2).sum()).backward()
        opt.step()
        return out, state

    return Plan(step, batch(2, 4, 3), {"model": model})


@cases(8)
def a_hidden_state_carried_on():
    cell, hidden = nn.GRUCell(3, 4), funtorch.zeros(2, 4)

    def step(x):
        with funtorch.no_grad():
            hidden.copy_(cell(x, hidden))
        return hidden.sum()

    return Plan(step, batch(2, 3), {"hidden": hidden})


@cases(8)
def a_small_transformer():
    model = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True)
    opt = optim.AdamW(model.parameters(), lr=0.01)

    def step(x):
        opt.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        opt.step()
        return loss

    return Plan(step, batch(2, 3, 4), {"model": model, "opt": opt})


@cases(8)
def a_convolution_and_an_embedding():
    conv, table = nn.Conv1d(4, 2, 3), nn.Embedding(7, 4)
    opt = optim.Adagrad([*conv.parameters(), *table.parameters()], lr=0.1)

    def step(tokens):
        opt.zero_grad()
        loss = conv(table(tokens).transpose(1, 2)).relu().sum()
        loss.backward()
        opt.step()
        return loss

    return Plan(step, lambda i: (funtorch.arange(10).reshape(2, 5) * (i + 1) % 7,), {"conv": conv, "table": table})


@cases(6)
def reinforce():
    policy = net(classes=2)
    opt = optim.SGD(policy.parameters(), lr=0.1)
    baseline = funtorch.zeros(())

    def step(x, reward):
        logp = policy(x).log_softmax(-1)
        choice = (logp + -funtorch.log(-funtorch.log(funtorch.rand(5, 2)))).argmax(-1)
        loss = -(logp.gather(1, choice[:, None])[:, 0] * (reward[choice] - baseline)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        baseline.lerp_(reward[choice].mean(), 0.1)
        return choice

    return Plan(step, lambda i: (labelled()(i)[0], tensor(1.0, 0.0)), {"policy": policy, "baseline": baseline})


@cases(6, loose=1e-2)  # within one program XLA need not round to bfloat16 between two steps, as it does between two kernels
def mixed_precision_with_a_scaler():
    model = net().float()
    opt = optim.SGD(model.parameters(), lr=0.1)
    scaler = funtorch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=3)

    def step(x, y):
        opt.zero_grad()
        with funtorch.autocast("cpu", dtype=funtorch.bfloat16):
            loss = cross_entropy(model(x.float()), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        return loss

    return Plan(step, labelled(), {"model": model, "scale": lambda: scaler.get_scale()})


@cases(8)
def an_averaged_model():
    model = net()
    mean = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        mean.update_parameters(model)
        return loss

    return Plan(step, labelled(), {"model": model, "mean": mean})


@cases(8)
def checkpointed_layers():
    model = net(drop=0.3)
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        opt.zero_grad()
        loss = cross_entropy(funtorch.utils.checkpoint.checkpoint(model, x, use_reentrant=False), y)
        loss.backward()
        opt.step()
        return loss

    return Plan(step, labelled(), {"model": model})


@cases(6)
def a_step_with_a_closure():
    model = net()
    opt = optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        def closure():
            opt.zero_grad()
            loss = cross_entropy(model(x), y)
            loss.backward()
            return loss

        return opt.step(closure)

    return Plan(step, labelled(), {"model": model})


test_training = cases.test
