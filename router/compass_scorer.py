"""A trained compass network at work on the candidates of one search."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graph.model import Candidate, Vector
from router.compass import Compass, CompassConfig
from router.evidence import TopicEvidence
from router.scorer_file import Stamp

BANK = "bank"
"""Name of the metadata bank among a network's arrays."""


def arrays_of(network: Compass, bank: torch.Tensor) -> dict[str, NDArray[Any]]:
    """Return a network's weights and its bank by name."""
    arrays = {name: value.numpy() for name, value in network.state_dict().items()}
    return {**arrays, BANK: bank.numpy()}


def network_scores(
    arrays: Mapping[str, NDArray[Any]], stamp: Stamp
) -> Callable[[Vector, Sequence[Candidate], TopicEvidence], NDArray[np.float32]]:
    """Return what scores candidates with a network that was saved."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    bank = tensors.pop(BANK)
    written: dict[str, Any] = {**stamp.config, "hidden": tuple(stamp.config["hidden"])}
    config = CompassConfig(**written)
    network = Compass(config, tensors["centroids"])
    network.load_state_dict(tensors)
    network.eval()

    def scores(
        vector: Vector, found: Sequence[Candidate], evidence: TopicEvidence
    ) -> NDArray[np.float32]:
        chunks = np.stack([one.vector for one in found if one.vector is not None])
        inputs = (vector, chunks, evidence.theta, evidence.question)
        e_q, e_c, theta, own = (torch.from_numpy(np.array(one))[None] for one in inputs)
        with torch.inference_mode():
            return network(e_q, e_c, theta, bank, own)[0].numpy()

    return scores
