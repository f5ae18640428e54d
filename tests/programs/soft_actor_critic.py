"""SAC with a squashed Gaussian policy: rsample through tanh, twin critics, Polyak averages, a learned temperature."""

import copy
import itertools

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def build(torch):
    nn, F, D = torch.nn, torch.nn.functional, torch.distributions

    class Actor(nn.Module):
        LOG_STD_MIN, LOG_STD_MAX = -5, 2

        def __init__(self):
            super().__init__()
            self.trunk = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 4))

        def distribution(self, state):
            mean, log_std = self.trunk(state).chunk(2, dim=-1)
            log_std = self.LOG_STD_MIN + 0.5 * (self.LOG_STD_MAX - self.LOG_STD_MIN) * (torch.tanh(log_std) + 1)
            squashed = D.TransformedDistribution(D.Normal(mean, log_std.exp()), D.TanhTransform(cache_size=1))
            return D.Independent(squashed, 1)

        def by_hand(self, state):
            """The log probability of a sample by the formula with softplus."""
            mean, log_std = self.trunk(state).chunk(2, dim=-1)
            normal = D.Normal(mean, log_std.clamp(-5, 2).exp())
            u = normal.rsample()
            return torch.tanh(u), (normal.log_prob(u) - 2 * (np.log(2) - u - F.softplus(-2 * u))).sum(-1)

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.q1, self.q2 = (nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1)) for _ in range(2))

        def forward(self, state, action):
            x = torch.cat([state, action], -1)
            return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)

    return Actor(), Critic()


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    actor, critic = (fill(torch, each, rng) for each in build(torch))
    target = copy.deepcopy(critic).requires_grad_(False)
    log_alpha = torch.zeros(1, requires_grad=True)
    optimizers = [torch.optim.Adam(params, lr=3e-3) for params in (actor.parameters(), critic.parameters(), [log_alpha])]
    states = torch.as_tensor(rng.normal(size=(64, 3)), dtype=torch.float32)

    def step(optimizer, loss):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = []
    for number in range(8):
        state = states[torch.from_numpy(rng.integers(0, 64, 16))]
        with torch.no_grad():
            following = actor.distribution(state * 0.9)
            next_action = following.sample()
            action = actor.distribution(state).sample()
            reward = -(state[:, :2] + action).pow(2).sum(-1)
            q = torch.min(*target(state * 0.9, next_action)) - log_alpha.exp() * following.log_prob(next_action)
            wanted = reward + 0.9 * q
        critic_loss = step(optimizers[1], sum(F.mse_loss(each, wanted) for each in critic(state, action)))
        for p in critic.parameters():
            p.requires_grad = False
        if number % 2:
            proposed, log_prob = actor.by_hand(state)
        else:
            policy = actor.distribution(state)
            proposed = policy.rsample()
            log_prob = policy.log_prob(proposed)
        actor_loss = step(optimizers[0], (log_alpha.exp().detach() * log_prob - torch.min(*critic(state, proposed))).mean())
        for p in critic.parameters():
            p.requires_grad = True
        alpha_loss = step(optimizers[2], -(log_alpha * (log_prob - 2).detach()).mean())
        for kept, new in zip(target.parameters(), critic.parameters(), strict=True):
            kept.data.copy_(0.1 * new.data + (1 - 0.1) * kept.data)
        losses.append([critic_loss, actor_loss, alpha_loss])
    named = itertools.chain(actor.named_parameters(), target.named_parameters(), [("log_alpha", log_alpha)])
    return {"loss": losses, "parameters": arrays(named)}
