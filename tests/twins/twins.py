"""Eight models as a PyTorch user writes them. Each function trains one for 50 steps from ``manual_seed(0)``, with shuffling loaders,
and returns what is printed of it, its initial weights by name, and the losses."""

import numpy as np

STEPS = 50


def _initial(*models):
    """What ``print(model)`` shows, and the checkpoint: its keys and values."""
    weights = {f"{i}.{k}": v.detach().numpy().copy() for i, m in enumerate(models) for k, v in m.state_dict().items()}
    return "\n".join(map(repr, models)), weights


def _batches(torch, *arrays, size=8):
    """Shuffled batches, epoch after epoch."""
    data = torch.utils.data.TensorDataset(*(torch.tensor(a) for a in arrays))
    loader = torch.utils.data.DataLoader(data, batch_size=size, shuffle=True)
    while True:
        yield from loader


def _numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _classes(seed, count, n):
    return np.random.default_rng(seed).integers(0, n, count)


def _trained(torch, model, batches, loss_of, optimizer, scheduler=None, clip=None):
    start, losses = _initial(model), []
    model.train()
    for _ in range(STEPS):
        batch = next(batches)
        optimizer.zero_grad()
        loss = loss_of(model, *batch)
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss.item())
    return *start, losses


def mlp(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    batches = _batches(torch, _numbers(0, 40, 10), _classes(1, 40, 4))
    return _trained(torch, model, batches, lambda m, x, y: nn.functional.cross_entropy(m(x), y), optimizer, scheduler)


def cnn(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.norm1 = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
            self.conv2, self.norm2 = nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8)
            self.drop, self.out = nn.Dropout2d(0.1), nn.Linear(8, 5)

        def forward(self, x):
            x = nn.functional.relu(self.norm1(self.conv1(x)))
            x = self.drop(nn.functional.relu(self.norm2(self.conv2(x))))
            return self.out(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))

    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    batches = _batches(torch, _numbers(2, 32, 1, 8, 8), _classes(3, 32, 5))
    return _trained(torch, model, batches, lambda m, x, y: nn.functional.cross_entropy(m(x), y, label_smoothing=0.1), optimizer)


def _language_model(torch, kind):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.drop = nn.Embedding(12, 8), nn.Dropout(0.1)
            self.rnn = getattr(nn, kind)(8, 16, num_layers=2, dropout=0.2, batch_first=True)
            self.out = nn.Linear(16, 12)

        def forward(self, x):
            y, _ = self.rnn(self.drop(self.embed(x)))
            return self.out(y)

    def loss_of(model, x):
        return nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())

    model = Model()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    return _trained(torch, model, _batches(torch, _classes(4, (24, 10), 12)), loss_of, optimizer, clip=0.25)


def lstm(torch):
    return _language_model(torch, "LSTM")


def gru(torch):
    return _language_model(torch, "GRU")


def transformer(torch):
    nn = torch.nn
    model = nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16, batch_first=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    batches = _batches(torch, _numbers(5, 24, 6, 8), _numbers(6, 24, 4, 8))
    return _trained(torch, model, batches, lambda m, x, y: nn.functional.mse_loss(m(x, y, tgt_mask=mask), y.flip(1)), optimizer)


def vae(torch):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode, self.mean, self.spread = nn.Linear(16, 12), nn.Linear(12, 3), nn.Linear(12, 3)
            self.decode = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 16))

        def forward(self, x):
            h = torch.relu(self.encode(x))
            mean, logvar = self.mean(h), self.spread(h)
            z = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
            return self.decode(z), mean, logvar

    def loss_of(model, x):
        out, mean, logvar = model(x)
        rebuilt = nn.functional.binary_cross_entropy_with_logits(out, torch.sigmoid(x), reduction="sum")
        return (rebuilt - 0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())) / len(x)

    model = Model()
    return _trained(torch, model, _batches(torch, _numbers(7, 32, 16)), loss_of, torch.optim.Adam(model.parameters(), lr=3e-3))


def gan(torch):
    nn = torch.nn
    maker = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 6), nn.Tanh())
    judge = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(16, 1))
    start = _initial(maker, judge)
    making = torch.optim.Adam(maker.parameters(), lr=2e-3, betas=(0.5, 0.999))
    judging = torch.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.999))
    loss_of, batches, losses = nn.BCEWithLogitsLoss(), _batches(torch, np.tanh(_numbers(8, 32, 6))), []
    for _ in range(STEPS):
        (real,) = next(batches)
        true, false = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = maker(torch.randn(len(real), 4))
        judging.zero_grad()
        wrong = loss_of(judge(real), true) + loss_of(judge(fake.detach()), false)
        wrong.backward()
        judging.step()
        making.zero_grad()
        fooled = loss_of(judge(fake), true)
        fooled.backward()
        making.step()
        losses += [wrong.item(), fooled.item()]
    return *start, losses


def actor_critic(torch):
    """A corridor of eight places: left or right, a reward at its end. Where an episode begins comes from a loader."""
    nn = torch.nn

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.actor, self.critic = nn.Linear(8, 16), nn.Linear(16, 2), nn.Linear(16, 1)

        def forward(self, x):
            x = torch.relu(self.body(x))
            return nn.functional.softmax(self.actor(x), dim=-1), self.critic(x)

    model = Policy()
    start, losses = _initial(model), []
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    places, starts = torch.eye(8), _batches(torch, np.arange(2, 6), size=1)
    for _ in range(STEPS):
        place, logs, values, rewards = next(starts)[0].item(), [], [], []
        for _ in range(12):
            probs, value = model(places[place])
            choice = torch.distributions.Categorical(probs)
            action = choice.sample()
            place = max(0, min(7, place + (1 if action.item() == 1 else -1)))
            logs.append(choice.log_prob(action))
            values.append(value.squeeze())
            rewards.append(1.0 if place == 7 else -0.1)
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + 0.95 * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        policy = [-log * (r - v.item()) for log, r, v in zip(logs, returns, values, strict=True)]
        critic = [nn.functional.smooth_l1_loss(v, r) for v, r in zip(values, returns, strict=True)]
        optimizer.zero_grad()
        loss = torch.stack(policy).sum() + torch.stack(critic).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return *start, losses


TWINS = {f.__name__: f for f in (mlp, cnn, lstm, gru, transformer, vae, gan, actor_critic)}
