"""The scorer's small network in NumPy: a search has no need of torch, which takes seconds to load.

z = 20 x score + the mean over members of (w . x + MLP(x)), x being the features, standardised. So
an untrained network orders as the system does whose candidates it scores, and training corrects.
`router.train_blend` trains the same network in torch; a test compares the two.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SCALE = 20.0
"""Of the score of the system that found the candidates, beside what is learned."""

CLIP = 4.0
"""Standard deviations from the mean beyond which a feature says no more."""


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of S members; F features, H hidden units."""

    mean: Floats
    """(F,), of the training candidates."""
    spread: Floats
    """(F,), above 0."""
    linear: Floats
    """(S, F)."""
    first: Floats
    """(S, F, H)."""
    first_bias: Floats
    """(S, H)."""
    second: Floats
    """(S, H, H)."""
    second_bias: Floats
    """(S, H)."""
    last: Floats
    """(S, H)."""

    def scores(self, features: Floats, base: Floats) -> Floats:
        """Return z of each candidate, (n,).

        Args:
            features: Shape (n, F).
            base: Scores of the system that found them, (n,).
        """
        x = np.clip((features - self.mean) / self.spread, -CLIP, CLIP)  # (n, F)
        hidden = np.maximum(x @ self.first + self.first_bias[:, None], 0)  # (S, n, H)
        hidden = np.maximum(hidden @ self.second + self.second_bias[:, None], 0)
        learned = x @ self.linear.T + (hidden @ self.last[:, :, None])[:, :, 0].T  # (n, S)
        return (SCALE * base + learned.mean(axis=1)).astype(np.float32)

    def arrays(self) -> dict[str, Floats]:
        """Return the weights by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
