"""REINFORCE on a small NumPy corridor: surrogate loss, learned baseline, entropy bonus."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


class Corridor:
    """Five cells, the last is the goal. Actions: 0 back, 1 forward, 2 stay. One step in ten slips."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def reset(self) -> np.ndarray:
        self.cell = 1
        return self.observe()

    def observe(self) -> np.ndarray:
        return np.eye(5)[self.cell]

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        move = 0 if self.rng.random() < 0.1 else (-1, 1, 0)[action]
        self.cell = min(max(self.cell + move, 0), 4)
        return self.observe(), (1.0 if self.cell == 4 else -0.1), self.cell == 4


def sample(probabilities, rng: np.random.Generator) -> int:
    cumulative = probabilities.detach().cumsum(0).numpy()
    return int(min(np.searchsorted(cumulative, rng.random()), 2))


def play(torch, policy, world: Corridor, rng: np.random.Generator):
    """One episode: log probabilities (T,), values (T,), entropies (T,) and discounted returns (T,)."""
    observation, steps, rewards = world.reset(), [], []
    for _ in range(10):
        logits, value = policy(torch.from_numpy(observation)).split([3, 1])
        log_p = torch.log_softmax(logits, 0)
        action = sample(log_p.exp(), rng)
        observation, reward, done = world.step(action)
        steps.append((log_p[action], value[0], -(log_p.exp() * log_p).sum()))
        rewards.append(reward)
        if done:
            break
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        returns.insert(0, total)
    columns = [torch.stack(column) for column in zip(*steps, strict=True)]
    return *columns, torch.tensor(returns, dtype=torch.float64)


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    policy = fill(torch, nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 4)).double(), rng)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    world = Corridor(rng)

    losses, lengths = [], []
    for _ in range(12):
        log_p, values, entropies, returns = play(torch, policy, world, rng)
        advantage = (returns - values).detach()
        loss = -(log_p * advantage).sum() + F.smooth_l1_loss(values, returns) - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        lengths.append(len(returns))
    return {"loss": losses, "episode length": lengths, "parameters": arrays(policy.named_parameters())}
