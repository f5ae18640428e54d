"""GPT: a decoder-only transformer with GPT-2's parameter names, its linear weights as (out, in).

Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
"""

from dataclasses import dataclass

from .. import Tensor, arange, cat, nn, no_grad
from ..nn import functional as F


@dataclass(frozen=True)
class GPTConfig:
    """Sizes of a ``GPT``; the defaults are GPT-2's smallest.

    Args:
        vocab_size: number of tokens.
        block_size: the longest sequence.
        n_layer: number of blocks.
        n_head: attention heads of a block; must divide n_embd.
        n_embd: features of a token.
        dropout: probability, in [0, 1), of zeroing a feature or an attention weight while training.
        bias: whether the linear layers and layer norms have biases.

    Raises:
        ValueError: where a size is below 1, n_head doesn't divide n_embd, or dropout is outside of [0, 1).
    """

    vocab_size: int = 50257
    block_size: int = 1024
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True

    def __post_init__(self):
        if min(self.vocab_size, self.block_size, self.n_layer, self.n_head, self.n_embd) < 1:
            raise ValueError(f"GPTConfig: every size must be at least 1, got {self}")
        if self.n_embd % self.n_head:
            raise ValueError(f"GPTConfig: n_head={self.n_head} must divide n_embd={self.n_embd}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"GPTConfig: dropout must be in [0, 1), got {self.dropout}")


class CausalSelfAttention(nn.Module):
    r"""Each position attends to itself and to those before it.

    :math:`\mathrm{softmax}(q k^T / \sqrt{d}) v` for each head, with d its features.

    Args:
        config: n_embd, n_head, bias, dropout.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.n_head, self.dropout = config.n_head, config.dropout
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) to (B, T, D)."""
        B, T, D = x.shape
        heads = self.c_attn(x).view(B, T, 3, self.n_head, D // self.n_head)  # (B, T, 3, heads, D / heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)  # (B, heads, T, D / heads) each
        dropout = self.dropout if self.training else 0.0
        z = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)  # (B, heads, T, D / heads)
        z = z.transpose(1, 2).reshape(B, T, D)  # (B, T, D)
        return F.dropout(self.c_proj(z), self.dropout, training=self.training)


class FeedForward(nn.Module):
    """Two linear layers, four times as wide between them, and GPT-2's tanh form of gelu.

    Args:
        config: n_embd, bias, dropout.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.dropout = config.dropout
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) to (B, T, D)."""
        x = F.gelu(self.c_fc(x), approximate="tanh")  # (B, T, 4 * D)
        return F.dropout(self.c_proj(x), self.dropout, training=self.training)  # (B, T, D)


class Block(nn.Module):
    """Attention and feed-forward, each on a normalised input and added to it.

    Args:
        config: the sizes.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) to (B, T, D)."""
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """GPT-2: embeddings, blocks, a last layer norm, and scores by the embedding's own weight.

    Parameters are named ``transformer.wte.weight``, ``transformer.h.0.attn.c_attn.weight`` and so on;
    ``lm_head.weight`` is ``transformer.wte.weight``, one Parameter. Released GPT-2 files hold the weights of
    ``c_attn``, ``c_proj`` and ``c_fc`` as (in, out): transpose them before loading.

    Args:
        config: the sizes.

    Example:
        >>> import funtorch
        >>> model = GPT(GPTConfig(vocab_size=50, block_size=8, n_layer=1, n_head=2, n_embd=16))
        >>> tuple(model(funtorch.zeros(2, 5, dtype=funtorch.int64)).shape)
        (2, 5, 50)
    """

    def __init__(self, config: GPTConfig = GPTConfig()):
        super().__init__()
        self.config = config
        modules = {
            "wte": nn.Embedding(config.vocab_size, config.n_embd),
            "wpe": nn.Embedding(config.block_size, config.n_embd),
            "drop": nn.Dropout(config.dropout),
            "h": nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            "ln_f": nn.LayerNorm(config.n_embd, bias=config.bias),
        }
        self.transformer = nn.ModuleDict(modules)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight
        self.initialise()

    def initialise(self) -> None:
        """Normal weights of deviation 0.02, over root 2 * n_layer where they add to the residual stream."""
        for name, parameter in self.named_parameters():
            if parameter.ndim > 1:
                shrink = (2 * self.config.n_layer) ** -0.5 if name.endswith("c_proj.weight") else 1.0
                nn.init.normal_(parameter, 0.0, 0.02 * shrink)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of the token that follows each token.

        Args:
            tokens: (B, T), int64, in [0, vocab_size), with T at most block_size.

        Returns:
            (B, T, vocab_size), of the parameters' dtype.

        Raises:
            ValueError: where T is above block_size.
            IndexError: where a token is outside of [0, vocab_size).
        """
        length = tokens.shape[1]
        if length > self.config.block_size:
            raise ValueError(f"GPT: tokens {tuple(tokens.shape)} exceed block_size={self.config.block_size}")
        parts = self.transformer
        positions = parts["wpe"](arange(length, device=tokens.device))  # (T, D)
        x = parts["drop"](parts["wte"](tokens) + positions)  # (B, T, D)
        for block in parts["h"]:
            x = block(x)
        return self.lm_head(parts["ln_f"](x))  # (B, T, vocab_size)

    @no_grad()
    def generate(self, tokens: Tensor, count: int) -> Tensor:
        """``tokens`` and the likeliest ``count`` tokens after them, one at a time.

        Args:
            tokens: (B, T), int64, in [0, vocab_size); beyond block_size, only the last ones are read.
            count: number of tokens to add, at least 0.

        Returns:
            (B, T + count), int64.

        Raises:
            IndexError: where a token is outside of [0, vocab_size).
        """
        for _ in range(count):
            logits = self(tokens[:, -self.config.block_size :])[:, -1]  # (B, vocab_size)
            tokens = cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=1)  # (B, T + 1)
        return tokens
