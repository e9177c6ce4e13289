"""The network of `router.blend` in torch, where it is trained."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from router.blend import CLIP, SCALE, Blend


class BlendNetwork(nn.Module):
    """S members that learn from the same lists; where they begin and what they drop differs."""

    mean: Tensor
    spread: Tensor

    def __init__(
        self, features: NDArray[np.float32], members: int, hidden: int, dropout: float
    ) -> None:
        """Draw the weights from torch's generator.

        Args:
            features: Of all training candidates, (n, F), by which they are standardised.
            members: S.
            hidden: H, units of each hidden layer.
            dropout: Share of units that a member does without in a step.
        """
        super().__init__()
        f = features.shape[1]
        self.register_buffer("mean", torch.from_numpy(features.mean(axis=0)))
        # A feature that never varies in training would explode where it does later.
        spread = features.std(axis=0)
        self.register_buffer("spread", torch.from_numpy(np.where(spread < 1e-4, 1, spread)))
        self.linear = nn.Parameter(torch.zeros(members, f))
        self.first = nn.Parameter(torch.randn(members, f, hidden) * (2 / f) ** 0.5)
        self.first_bias = nn.Parameter(torch.zeros(members, hidden))
        self.second = nn.Parameter(torch.randn(members, hidden, hidden) * (2 / hidden) ** 0.5)
        self.second_bias = nn.Parameter(torch.zeros(members, hidden))
        self.last = nn.Parameter(torch.zeros(members, hidden))
        self._dropout = dropout

    def forward(self, features: Tensor, base: Tensor) -> Tensor:
        """Return each member's z, (S, B, C), for features (B, C, F) and scores (B, C)."""
        x = ((features - self.mean) / self.spread).clamp(-CLIP, CLIP)
        hidden = torch.einsum("bcf,sfh->sbch", x, self.first) + self.first_bias[:, None, None]
        hidden = self._dropped(hidden.relu())
        hidden = torch.einsum("sbch,shk->sbck", hidden, self.second)
        hidden = self._dropped((hidden + self.second_bias[:, None, None]).relu())
        learned = torch.einsum("bcf,sf->sbc", x, self.linear)
        return SCALE * base + learned + torch.einsum("sbch,sh->sbc", hidden, self.last)

    def _dropped(self, hidden: Tensor) -> Tensor:
        """Drop the same units for all candidates of a list: as good, in half the time."""
        if not self.training:
            return hidden
        members, lists, _, units = hidden.shape
        kept = torch.rand(members, lists, 1, units) >= self._dropout
        return hidden * kept / (1 - self._dropout)

    def blend(self) -> Blend:
        """Return the weights for NumPy."""
        named = dict(self.named_parameters()) | dict(self.named_buffers())
        arrays = {name: one.detach().numpy().astype(np.float32) for name, one in named.items()}
        return Blend(**arrays)
