"""Deep Q-learning on a NumPy walk: a replay buffer of namedtuples, epsilon-greedy acts, a target network, Huber loss."""

import random
from collections import deque, namedtuple

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4
Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "done"))


class ReplayMemory:
    def __init__(self, capacity: int, seed: int):
        self.memory, self.random = deque([], maxlen=capacity), random.Random(seed)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, size: int) -> Transition:
        return Transition(*zip(*self.random.sample(self.memory, size), strict=True))

    def __len__(self) -> int:
        return len(self.memory)


class Pole:
    """A position and a speed; a push to either side; over when it has gone too far."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def reset(self) -> np.ndarray:
        self.state = self.rng.uniform(-0.2, 0.2, 2)
        return self.state.astype(np.float32)

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        position, speed = self.state
        speed += 0.2 * position + 0.1 * (2 * action - 1)
        self.state = np.array([position + speed, speed])
        return self.state.astype(np.float32), 1.0 - abs(position), bool(abs(self.state[0]) > 1)


def optimize(torch, policy, target, optimizer, memory: ReplayMemory) -> float:
    batch = memory.sample(16)
    state, next_state = torch.stack(batch.state), torch.stack(batch.next_state)
    action = torch.tensor(batch.action).unsqueeze(1)
    reward, done = torch.FloatTensor(batch.reward), torch.tensor(batch.done, dtype=torch.bool)
    value = policy(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        best = policy(next_state).argmax(dim=1, keepdim=True)  # the online network chooses, the target one judges
        following = torch.zeros(16)
        following[~done] = target(next_state[~done]).gather(1, best[~done]).squeeze(1)
    loss = torch.nn.SmoothL1Loss()(value, reward + 0.9 * following)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    return loss.item()


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    rng = np.random.default_rng(seed)

    def network():
        return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))

    policy, target = fill(torch, network(), rng), network()
    target.load_state_dict(policy.state_dict())
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=3e-3, alpha=0.95, momentum=0.5)
    world, memory = Pole(rng), ReplayMemory(200, seed)

    losses, actions, state = [], [], torch.from_numpy(world.reset())
    for step in range(60):
        if rng.random() < 0.9 * 0.95**step:
            action = int(rng.integers(2))
        else:
            with torch.no_grad():
                action = policy(state.unsqueeze(0)).max(1).indices.view(1, 1).item()
        observed, reward, done = world.step(action)
        memory.push(state, action, reward, torch.from_numpy(observed), done)
        state = torch.from_numpy(world.reset() if done else observed)
        actions.append(action)
        if len(memory) > 30:
            losses.append(optimize(torch, policy, target, optimizer, memory))
            kept, new = target.state_dict(), policy.state_dict()
            for key in new:
                kept[key] = new[key] * 0.1 + kept[key] * 0.9
            target.load_state_dict(kept)
    return {
        "loss": losses,
        "actions": actions,
        "policy": arrays(policy.named_parameters()),
        "target": arrays(target.named_parameters()),
    }
