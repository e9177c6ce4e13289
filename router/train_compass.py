"""Trains the scorer's networks: evidence weighed by a blend, or MCompassRAG's own network.

On one thread and with one seed the weights are the same, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from graph.errors import UsageError
from graph.model import Vectors
from router.blend import Blend
from router.compass import Compass, CompassConfig
from router.train_blend import BlendNetwork
from router.training_data import Progress, document_digest, is_held_out
from router.training_lists import Lists, logit
from router.training_loop import Places, Trained, TrainSettings, train

COMPASS_SETTINGS = TrainSettings(
    loss="distillation", epochs=30, patience=30, rate=1e-3, decay=0.01, dropout=0.1, members=1
)
"""Held out are too few questions to stop by: the network learns nothing in its first epochs."""


def train_blend(
    lists: Lists, settings: TrainSettings, progress: Progress = lambda done, total: None
) -> tuple[Blend, Trained]:
    """Train the network that weighs the evidence.

    Each member learns from all documents but its own part, and what it makes of that part tells
    when to stop: one epoch for all members, chosen by all questions. With a single part held out, a
    hundred questions choose, and that was too few: one seed in three stopped in the first epoch.

    Raises:
        UsageError: Nothing can be held out.
        ModelError: The loss is not finite.
    """
    folds = folded(lists.documents, settings)
    _begin(settings.seed)
    network = BlendNetwork(
        lists.features[lists.present],
        settings.members,
        settings.hidden,
        settings.dropout,
    )
    inputs = torch.from_numpy(lists.features), torch.from_numpy(lists.scores)

    def score(places: Tensor) -> Tensor:
        return network(inputs[0][places], inputs[1][places])

    trained = train(network, score, lists, folds, settings, progress)
    return network.blend(), trained


def train_network(
    lists: Lists,
    config: CompassConfig,
    centroids: Vectors,
    settings: TrainSettings = COMPASS_SETTINGS,
    progress: Progress = lambda done, total: None,
) -> tuple[Compass, Trained]:
    """Train MCompassRAG's network, or a part of it, on embeddings and topics alone.

    The bank is the chunks that were candidates of training questions.

    Raises:
        UsageError: As `train_blend`, or the topics do not fit the configuration.
        ModelError: The loss is not finite.
    """
    training, held_out = divided(lists.documents, settings)
    _begin(settings.seed)
    network = Compass(config, torch.from_numpy(centroids))
    lists = with_random_negatives(lists, settings)
    scorer = NetworkScores(network, lists, bank_of(lists, training))
    folds = np.ones(len(lists.documents), np.int64)  # no member holds out fold 1: there is one
    folds[held_out] = 0
    trained = train(network, scorer, lists, folds, settings, progress)
    return network, trained


def bank_of(lists: Lists, places: Places, most: int = 1000) -> Tensor:
    """Return the metadata bank, (N, K): theta of chunks that were candidates of these questions."""
    rows = np.unique(lists.rows[places][lists.present[places]])
    step = max(1, len(rows) // most)
    return torch.from_numpy(lists.theta[rows[::step]])


def with_random_negatives(lists: Lists, settings: TrainSettings) -> Lists:
    """Add chunks that were candidates of any question, drawn at random, behind each list.

    One that is a candidate or relevant already is drawn with the chance of one in thousands, and
    counts as a negative then.
    """
    shape = (len(lists.rows), settings.negatives)
    drawn = np.random.default_rng(settings.seed).integers(len(lists.vectors), size=shape)
    none = np.zeros(shape, np.float32)
    return replace(
        lists,
        rows=np.concatenate([lists.rows, drawn], axis=1),
        # Below every candidate, so that what was not found is not counted before training.
        scores=np.concatenate([lists.scores, none - 10], axis=1),
        grades=np.concatenate([lists.grades, none], axis=1),
        teacher=np.concatenate([lists.teacher, none + logit(0)], axis=1),
        present=np.concatenate([lists.present, np.ones(shape, bool)], axis=1),
    )


class NetworkScores:
    """Scores of a compass network, (1, B, C), for questions by their places in the lists."""

    def __init__(self, network: Compass, lists: Lists, bank: Tensor) -> None:
        self._network = network
        self._bank = bank
        self._rows = torch.from_numpy(lists.rows)
        self._vectors, self._theta = torch.from_numpy(lists.vectors), torch.from_numpy(lists.theta)
        self._questions, self._own = torch.from_numpy(lists.questions), torch.from_numpy(lists.own)

    def __call__(self, places: Tensor) -> Tensor:
        """Return z."""
        rows = self._rows[places]  # (B, C)
        return self._network(
            self._questions[places],
            self._vectors[rows],
            self._theta[rows],
            self._bank,
            self._own[places],
        )[None]


def divided(documents: Sequence[str], settings: TrainSettings) -> tuple[Places, Places]:
    """Divide questions by their documents: those trained on, and those held out.

    Raises:
        UsageError: One side would be empty.
    """
    out = np.array([is_held_out(one, settings.held_out, settings.seed) for one in documents])
    if out.all() or not out.any():
        raise UsageError(
            f"The {len(documents)} questions are about {len(set(documents))} documents, too few to "
            "hold some out. Give questions about more documents, or another --seed."
        )
    return np.flatnonzero(~out), np.flatnonzero(out)


def folded(documents: Sequence[str], settings: TrainSettings) -> Places:
    """Return which member holds a question out, by its document: (B,).

    Raises:
        UsageError: All questions would be held out by the same member.
    """
    digests = [document_digest(one, settings.seed) for one in documents]
    folds = np.array([int(digest * settings.members) for digest in digests])
    if len(set(folds.tolist())) < 2:
        raise UsageError(
            f"The {len(documents)} questions are about {len(set(documents))} documents, too few to "
            "hold some out. Give questions about more documents, or another --seed."
        )
    return folds


def _begin(seed: int) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more would add in another order each time
