"""A word-level language model on an LSTM, with the parameter names of PyTorch's word_language_model example.

Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
Press and Wolf, "Using the Output Embedding to Improve Language Models", 2016: tied weights.
"""

from dataclasses import dataclass

from .. import Tensor, nn, sigmoid, stack, tanh, zeros
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


class LSTM(nn.Module):
    r"""Stacked LSTM layers over time steps, with ``nn.LSTM``'s parameter names and gate order (i, f, g, o).

    :math:`c_t = f \odot c_{t-1} + i \odot g,\; h_t = o \odot \tanh c_t`, where i, f, o are sigmoids and g
    is the tanh of :math:`W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}`, cut in four.

    Args:
        inputs: features of the input.
        hidden: features of each layer.
        layers: number of layers.
        dropout: probability of zeroing a feature between two layers while training.
    """

    def __init__(self, inputs: int, hidden: int, layers: int, dropout: float):
        super().__init__()
        self.hidden, self.layers, self.dropout = hidden, layers, dropout
        for i in range(layers):
            width = hidden if i else inputs
            self.register_parameter(f"weight_ih_l{i}", nn.Parameter(zeros(4 * hidden, width)))
            self.register_parameter(f"weight_hh_l{i}", nn.Parameter(zeros(4 * hidden, hidden)))
            self.register_parameter(f"bias_ih_l{i}", nn.Parameter(zeros(4 * hidden)))
            self.register_parameter(f"bias_hh_l{i}", nn.Parameter(zeros(4 * hidden)))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(hidden**-0.5), hidden**-0.5)

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Outputs (B, T, hidden) for x (B, T, D), and the last state, two of (layers, B, hidden)."""
        last_h, last_c = [], []
        for i in range(self.layers):
            if i:
                x = F.dropout(x, self.dropout, training=self.training)
            x, h, c = self.run_layer(i, x, state[0][i], state[1][i])  # (B, T, hidden), (B, hidden) twice
            last_h.append(h)
            last_c.append(c)
        return x, (stack(last_h), stack(last_c))

    def run_layer(self, i: int, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Layer ``i`` over all steps of x (B, T, D), from h and c (B, hidden)."""
        weight, bias = getattr(self, f"weight_hh_l{i}"), getattr(self, f"bias_hh_l{i}")
        inputs = F.linear(
            x, getattr(self, f"weight_ih_l{i}"), getattr(self, f"bias_ih_l{i}")
        )  # (B, T, 4 * hidden)
        outputs = []
        for step in inputs.unbind(1):
            i_gate, f_gate, g, o_gate = (step + F.linear(h, weight, bias)).chunk(4, dim=1)  # (B, hidden) each
            c = sigmoid(f_gate) * c + sigmoid(i_gate) * tanh(g)
            h = sigmoid(o_gate) * tanh(c)
            outputs.append(h)
        return stack(outputs, dim=1), h, c


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
        self.rnn = LSTM(config.embedding, config.hidden, config.layers, config.dropout)
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
