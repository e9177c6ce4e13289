"""MCompassRAG's topic-aware scorer, section 3.2 of the paper; equation numbers are the paper's.

    e_q ──► selector (4, 5) ──► top-L entries of the bank ──► abstraction (6, 7) ──► theta_q
    theta_q, theta_c ──► top-M topics (8) ──► g = sum of theta_k t_k (9) ──► r = [e; g]
    [r_q; r_c] ──► MLP of three layers ──► z, the logit of relevance (10)

Shapes: B questions, C candidates, N entries of the bank, K topics, d dimensions, L and M as in the
paper. Embeddings, centroids and theta are given and stay as they are; selector, abstraction and MLP
are trained.

Choices where the paper is silent, or does not work:
- Eq. 4 is linear in [e_q; m_i], so what the question adds is the same for every entry and cancels
  in the softmax: the entries chosen, and with them theta_q and g_q, are the same for *every*
  question. `selector="bilinear"` asks e_q' W m_i instead, where they can differ.
- Choosing the top L has no gradient. `pooling="weighted"` weighs the entries by their renormalised
  s_i instead of 1 / L (eq. 7), which is the selector's only gradient; the authors' code does so.
- The Transformer's output is no distribution; a softmax makes it one, as in the authors' code.
- An MLP learns no product of its inputs from a few thousand examples, and a cosine is a sum of
  products: `products` lets it see e_q * e_c and g_q * g_c as well.
- Components of unit vectors are about 1 / sqrt(d), their products 1 / d; the MLP sees them times
  sqrt(d) and times d, of the size that its first weights are drawn for. Without that products are
  too small to be learned from.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from graph.errors import UsageError

Selection = Literal["concatenated", "bilinear", "none"]
Pooling = Literal["mean", "weighted"]
Guidance = Literal["bank", "own", "none"]


@dataclass(frozen=True, slots=True)
class CompassConfig:
    """Sizes and parts of the network; the defaults are the paper's."""

    dimensions: int = 384
    """d, of the encoder."""
    topics: int = 100
    """K; a multiple of `heads`."""
    entries: int = 50
    """L: entries of the bank that are selected."""
    strongest: int = 10
    """M: topics of a distribution that are kept."""
    dropout: float = 0.1
    layers: int = 2
    heads: int = 4
    feedforward: int = 256
    hidden: tuple[int, int] = (256, 64)
    """Of the MLP, whose third layer has one output."""
    selection: Selection = "concatenated"
    """Eq. 4; or bilinear; or none, which takes the first L entries of the bank."""
    abstraction: bool = True
    """Without it the selected distributions are averaged as they are."""
    pooling: Pooling = "weighted"
    guidance: Guidance = "bank"
    """Where g_q comes from: the bank (the paper), the question's own theta, or nowhere; then g_c is
    left out as well."""
    products: bool = False

    def __post_init__(self) -> None:
        if self.topics % self.heads:
            raise UsageError(
                f"The Transformer has {self.heads} heads, and {self.topics} topics cannot be "
                "divided among them. Choose K as a multiple of the heads."
            )
        if not 0 < self.strongest <= self.topics or self.entries < 1:
            raise UsageError(
                f"L is {self.entries} and M is {self.strongest} for K = {self.topics} topics. L "
                "must be at least 1, M between 1 and K."
            )


class Selector(nn.Module):
    """Scores each entry of the bank for a question."""

    def __init__(self, config: CompassConfig) -> None:
        super().__init__()
        d = config.dimensions
        self.is_bilinear = config.selection == "bilinear"
        self.linear = nn.Linear(2 * d, 1) if not self.is_bilinear else nn.Linear(d, d, bias=False)
        if self.is_bilinear:
            nn.init.eye_(self.linear.weight)  # begins as the dot product
            self.linear.weight.data *= _SHARPNESS

    def forward(self, questions: Tensor, summaries: Tensor) -> Tensor:
        """Return a, (B, N), for questions (B, d) and metadata vectors m, (N, d) or (B, N, d)."""
        if self.is_bilinear:
            asked = self.linear(questions)  # (B, d)
            return (summaries @ asked[:, :, None]).squeeze(-1)
        # w' [e_q; m] = w_q' e_q + w_m' m: B x N vectors of 2 d would take most of the time.
        of_question, of_summary = self.linear.weight[0].chunk(2)
        own = (questions @ of_question + self.linear.bias)[:, None]  # (B, 1)
        return own + summaries @ of_summary  # (B, N)  eq. 4


class Abstraction(nn.Module):
    """Makes one distribution of the selected ones."""

    def __init__(self, config: CompassConfig) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            config.topics,
            config.heads,
            config.feedforward,
            config.dropout,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)

    def forward(self, selected: Tensor, weights: Tensor) -> Tensor:
        """Return theta_q, (B, K), for distributions (B, L, K) and weights (B, L) that sum to 1."""
        refined = self.encoder(selected)  # (B, L, K)
        return torch.einsum("bl,blk->bk", weights, refined).softmax(dim=-1)  # eq. 7


class Compass(nn.Module):
    """The whole scorer."""

    centroids: Tensor

    def __init__(self, config: CompassConfig, centroids: Tensor) -> None:
        """Begin with random weights, drawn from torch's generator.

        Args:
            config: Sizes and parts.
            centroids: Shape (K, d), in the encoder's space.
        """
        super().__init__()
        wanted = (config.topics, config.dimensions)
        if tuple(centroids.shape) != wanted:
            raise UsageError(
                f"The topics are of shape {tuple(centroids.shape)}, and the scorer is made for "
                f"{wanted} (K, d). Train it anew for these topics with `milepost train`."
            )
        self.config = config
        self.register_buffer("centroids", centroids.detach().float().clone())
        from_bank = config.guidance == "bank"
        self.selector = Selector(config) if from_bank and config.selection != "none" else None
        self.abstraction = Abstraction(config) if from_bank and config.abstraction else None
        parts = (2 if config.guidance == "none" else 4) * (1.5 if config.products else 1)
        first, second = config.hidden
        self.mlp = nn.Sequential(
            nn.Linear(int(parts * config.dimensions), first),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(first, second),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(second, 1),
        )

    def forward(
        self, questions: Tensor, chunks: Tensor, theta: Tensor, bank: Tensor, own: Tensor
    ) -> Tensor:
        """Return the logits z, (B, C).

        Args:
            questions: e_q, (B, d).
            chunks: e_c, (B, C, d).
            theta: theta_c, (B, C, K).
            bank: Distributions to select from, (N, K), or (B, N, K) for one bank a question.
            own: theta of the questions' own text, (B, K); used by guidance "own" alone.
        """
        if self.config.guidance == "none":
            return self._score([questions], [chunks])
        theta_q = own if self.config.guidance == "own" else self.refine(questions, bank)
        return self._score([questions, self.summarise(theta_q)], [chunks, self.summarise(theta)])

    def refine(self, questions: Tensor, bank: Tensor) -> Tensor:
        """Return theta_q, (B, K): what the bank tells of the questions' topics."""
        shared = bank if bank.dim() == 3 else bank.expand(len(questions), *bank.shape)  # (B, N, K)
        entries = min(self.config.entries, shared.shape[1])
        if self.selector is None:
            selected = shared[:, :entries]  # (B, L, K)
            weights = torch.full(selected.shape[:2], 1 / entries)  # (B, L)
        else:
            scores = self.selector(questions, bank @ self.centroids)  # m: eq. 3; a: (B, N)
            best, places = scores.topk(entries)  # of s as well, which is monotonic in a: eq. 5
            index = places[:, :, None].expand(-1, -1, shared.shape[2])
            selected = shared.gather(1, index)  # (B, L, K)  eq. 6
            weights = best.softmax(dim=-1)  # (B, L): s among the selected
            if self.config.pooling == "mean":
                weights = torch.full_like(weights, 1 / entries)
        if self.abstraction is None:
            return torch.einsum("bl,blk->bk", weights, selected)
        return self.abstraction(selected, weights)

    def summarise(self, theta: Tensor) -> Tensor:
        """Return g, (…, d): the centroids of the strongest M topics, weighed. Eq. 8 and 9."""
        values, places = theta.topk(self.config.strongest, dim=-1)  # (…, M)
        kept = torch.zeros_like(theta).scatter(-1, places, values)  # (…, K)
        return kept @ self.centroids

    def _score(self, asked: list[Tensor], offered: list[Tensor]) -> Tensor:
        """Return z of eq. 10, (B, C), for parts of r_q, each (B, d), and of r_c, each (B, C, d)."""
        size = math.sqrt(self.config.dimensions)
        scaled = [one[:, None] * size for one in asked]  # (B, 1, d)
        parts = scaled + [one * size for one in offered]  # (B, C, d)
        if self.config.products:
            parts += [a * b for a, b in zip(scaled, parts[len(asked) :], strict=True)]
        # The first layer part by part, so that what a question adds is computed once.
        first = self.mlp[0]
        assert isinstance(first, nn.Linear)
        columns: tuple[Tensor, ...] = torch.split(
            first.weight, self.config.dimensions, dim=1
        )  # each (hidden, d)
        added = [part @ own.T for part, own in zip(parts, columns, strict=True)]
        hidden = sum(added[1:], added[0]) + first.bias  # (B, C, hidden)
        return self.mlp[1:](hidden).squeeze(-1)


_SHARPNESS = 10.0
"""Cosines of metadata vectors lie close together; this spreads them before the softmax."""
