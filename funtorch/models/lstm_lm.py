"""A word-level language model on an LSTM, with the parameter names of PyTorch's word_language_model example.

Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
Press and Wolf, "Using the Output Embedding to Improve Language Models", 2016: tied weights.
"""

from dataclasses import dataclass

from .. import Tensor, nn, zeros
from ..nn import functional as F

State = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class LSTMLanguageModelConfig:
    """Sizes of an ``LSTMLanguageModel``.

    Args:
        vocabulary: number of tokens.
        embedding: features of a token's embedding.
        hidden: features of each LSTM layer.
        layers: number of LSTM layers.
        dropout: probability, in [0, 1), of zeroing a feature between layers while training.
        tied: let the decoder use the embedding's weight; needs hidden == embedding.

    Raises:
        ValueError: where a number is below 1, dropout is outside of [0, 1), or tied sizes differ.
    """

    vocabulary: int = 10_000
    embedding: int = 200
    hidden: int = 200
    layers: int = 2
    dropout: float = 0.2
    tied: bool = False

    def __post_init__(self):
        if min(self.vocabulary, self.embedding, self.hidden, self.layers) < 1:
            raise ValueError(f"LSTMLanguageModelConfig: every size must be at least 1, got {self}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"LSTMLanguageModelConfig: dropout must be in [0, 1), got {self.dropout}")
        if self.tied and self.hidden != self.embedding:
            raise ValueError(
                f"LSTMLanguageModelConfig: tied=True needs hidden == embedding, "
                f"got hidden={self.hidden}, embedding={self.embedding}"
            )


class LSTMLanguageModel(nn.Module):
    """Predicts each next token; parameters are ``encoder.weight``, ``rnn.weight_ih_l0`` ... ``decoder.bias``.

    Args:
        config: the sizes.

    Example:
        >>> import funtorch
        >>> model = LSTMLanguageModel(LSTMLanguageModelConfig(vocabulary=50, embedding=8, hidden=8))
        >>> logits, state = model(funtorch.zeros(3, 5, dtype=funtorch.int64))
        >>> tuple(logits.shape), tuple(state[0].shape)
        ((3, 5, 50), (2, 3, 8))
    """

    def __init__(self, config: LSTMLanguageModelConfig = LSTMLanguageModelConfig()):
        super().__init__()
        self.config = config
        self.encoder = nn.Embedding(config.vocabulary, config.embedding)
        between = config.dropout if config.layers > 1 else 0.0
        self.rnn = nn.LSTM(config.embedding, config.hidden, config.layers, dropout=between, batch_first=True)
        self.decoder = nn.Linear(config.hidden, config.vocabulary)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        if config.tied:
            self.decoder.weight = self.encoder.weight

    def initial_state(self, batch: int) -> State:
        """Zeros (layers, batch, hidden) for h and for c, of the parameters' dtype and device."""
        weight, size = self.decoder.weight, (self.config.layers, batch, self.config.hidden)
        return tuple(zeros(size, dtype=weight.dtype, device=weight.device) for _ in range(2))

    def forward(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Scores of the token that follows each token.

        Args:
            tokens: (B, T), int64, in [0, vocabulary).
            state: h and c, each (layers, B, hidden); zeros where None.

        Returns:
            logits (B, T, vocabulary), and the last state, each (layers, B, hidden).

        Raises:
            IndexError: where a token is outside of [0, vocabulary).
        """
        state = self.initial_state(tokens.shape[0]) if state is None else state
        x = F.dropout(self.encoder(tokens), self.config.dropout, training=self.training)  # (B, T, embedding)
        x, state = self.rnn(x, state)  # (B, T, hidden)
        x = F.dropout(x, self.config.dropout, training=self.training)
        return self.decoder(x), state  # (B, T, vocabulary)
