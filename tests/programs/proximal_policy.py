"""PPO: a rollout buffer with generalised advantages, clipped ratios over shuffled minibatches, entropy, early stop by KL."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-5


def build(torch):
    nn = torch.nn
    Categorical = torch.distributions.Categorical

    def layer_init(layer, std=2**0.5, bias_const=0.0):
        torch.nn.init.orthogonal_(layer.weight, std)
        torch.nn.init.constant_(layer.bias, bias_const)
        return layer

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.critic = nn.Sequential(layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 1), std=1.0))
            self.actor = nn.Sequential(layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 4), std=0.01))

        def get_value(self, x):
            return self.critic(x)

        def get_action_and_value(self, x, action=None):
            probs = Categorical(logits=self.actor(x))
            if action is None:
                action = probs.sample()
            return action, probs.log_prob(action), probs.entropy(), self.critic(x)

    return Agent()


def rollout(torch, agent, rng: np.random.Generator, steps: int = 8, envs: int = 4):
    """Observations (T, N, 3), actions, log probabilities, rewards, dones and values (T, N), and the last observation."""
    obs = torch.zeros((steps, envs, 3))
    actions, logprobs, rewards, dones, values = (torch.zeros((steps, envs)) for _ in range(5))
    state, done = torch.Tensor(rng.normal(size=(envs, 3))), torch.zeros(envs)
    for step in range(steps):
        obs[step], dones[step] = state, done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(state)
            values[step] = value.flatten()
        actions[step], logprobs[step] = action, logprob
        push = np.eye(4)[action.cpu().numpy()][:, :3]
        observed = 0.7 * state.numpy() + push - 0.3 + 0.1 * rng.normal(size=(envs, 3))
        rewards[step] = torch.tensor(-np.abs(observed).sum(-1)).view(-1)
        state, done = torch.Tensor(observed), torch.Tensor((np.abs(observed).max(-1) > 1.2).astype(np.float32))
    return obs, actions, logprobs, rewards, dones, values, state, done


def advantages_of(torch, agent, rewards, dones, values, state, done, gamma: float = 0.95, lam: float = 0.9):
    with torch.no_grad():
        following = agent.get_value(state).reshape(1, -1)
        advantages, last = torch.zeros_like(rewards), 0
        for t in reversed(range(len(rewards))):
            alive = 1.0 - (done if t == len(rewards) - 1 else dones[t + 1])
            delta = rewards[t] + gamma * (following if t == len(rewards) - 1 else values[t + 1]) * alive - values[t]
            advantages[t] = last = delta + gamma * lam * alive * last
    return advantages, advantages + values


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    agent = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)

    losses, kls, clipped = [], [], []
    for update in range(3):
        optimizer.param_groups[0]["lr"] = (1.0 - update / 3) * 2.5e-3
        obs, actions, logprobs, rewards, dones, values, state, done = rollout(torch, agent, rng)
        advantages, returns = advantages_of(torch, agent, rewards, dones, values, state, done)
        flat = [each.reshape((-1,) + each.shape[2:]) for each in (obs, actions, logprobs, advantages, returns, values)]
        order = np.arange(32)
        for _ in range(2):
            rng.shuffle(order)
            for start in range(0, 32, 16):
                x, a, old, adv, ret, val = (each[order[start : start + 16]] for each in flat)
                _, new, entropy, value = agent.get_action_and_value(x, a.long())
                logratio = new - old
                ratio = logratio.exp()
                with torch.no_grad():
                    kls.append(((ratio - 1) - logratio).mean().item())
                    clipped.append(((ratio - 1.0).abs() > 0.02).float().mean().item())
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                policy_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
                value = value.view(-1)
                cut = val + torch.clamp(value - val, -0.2, 0.2)
                value_loss = 0.5 * torch.max((value - ret) ** 2, (cut - ret) ** 2).mean()
                loss = policy_loss - 0.01 * entropy.mean() + value_loss * 0.5
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
                losses.append(loss.item())
    variance = np.var(flat[4].numpy())
    return {
        "loss": losses,
        "kl": kls,
        "clipped": clipped,
        "explained": float(1 - np.var(flat[4].numpy() - flat[5].numpy()) / variance),
        "actions": flat[1].numpy(),
        "parameters": arrays(agent.named_parameters()),
    }
