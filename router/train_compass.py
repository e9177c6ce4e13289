"""Trains the scorer: batches of questions, AdamW, and a stop where held-out IE gains no more.

On one thread and with one seed the weights are the same, bit for bit.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graph.errors import ModelError, UsageError
from graph.model import Vectors
from router.blend import Blend
from router.compass import Compass, CompassConfig
from router.compass_loss import distillation_loss, listwise_loss
from router.train_blend import BlendNetwork
from router.training_data import Progress, is_held_out
from router.training_lists import Lists, logit

Places = NDArray[np.int64]
Loss = Literal["listwise", "distillation"]


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How to train; the defaults are those of the blend."""

    loss: Loss = "listwise"
    epochs: int = 40
    patience: int = 12
    """Epochs without a gain in held-out IE after which to stop."""
    batch: int = 32
    """Questions."""
    rate: float = 3e-3
    decay: float = 1.0
    """AdamW's weight decay."""
    dropout: float = 0.3
    hidden: int = 32
    members: int = 4
    held_out: float = 0.2
    """Share of the documents whose questions decide when to stop."""
    alpha: float = 0.5
    temperature: float = 1.0
    negatives: int = 10
    """Chunks drawn for each question beside its candidates; for the compass network alone."""
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be trained with.

        Raises:
            UsageError: A setting is out of range.
        """
        least = min(self.epochs, self.patience, self.batch, self.hidden, self.members)
        shares = (self.dropout, self.held_out, self.alpha)
        if least < 1 or self.negatives < 0 or not all(0 <= share < 1 for share in shares):
            raise UsageError(
                "epochs, patience, batch, hidden and members are at least 1, negatives at least 0; "
                "dropout, held_out and alpha are in [0, 1)."
            )
        if not (self.rate > 0 and self.temperature > 0 and self.decay >= 0):
            raise UsageError("rate and temperature are above 0, decay is at least 0.")
        if self.loss not in ("listwise", "distillation"):
            raise UsageError(f"There is no loss {self.loss!r}: it is listwise or distillation.")


COMPASS_SETTINGS = TrainSettings(
    loss="distillation", epochs=30, rate=1e-3, decay=0.01, dropout=0.1, members=1
)


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training questions."""

    loss: float
    held_out_loss: float
    held_out_ie: float
    """IE@3 on the documents held out, mean of P x R, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it."""

    epochs: tuple[Epoch, ...]
    best: int
    """0-indexed epoch whose weights were kept; -1 for those it began with."""
    questions: int
    held_out_questions: int
    before: float
    """IE@3 on the documents held out, ordered by the convex mix."""
    after: float


def train_blend(
    lists: Lists, settings: TrainSettings, progress: Progress = lambda done, total: None
) -> tuple[Blend, Trained]:
    """Train the network that weighs the evidence.

    Raises:
        UsageError: Nothing can be held out.
        ModelError: The loss is not finite.
    """
    training, held_out = divided(lists.documents, settings)
    _begin(settings.seed)
    network = BlendNetwork(
        lists.features[training][lists.present[training]],
        settings.members,
        settings.hidden,
        settings.dropout,
    )
    inputs = torch.from_numpy(lists.features), torch.from_numpy(lists.scores)

    def score(places: Tensor) -> Tensor:
        return network(inputs[0][places], inputs[1][places])

    trained = _train(network, score, lists, (training, held_out), settings, progress)
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
    trained = _train(network, scorer, lists, (training, held_out), settings, progress)
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


def information_efficiency(
    scores: Tensor, grades: Tensor, present: Tensor, relevant: Tensor, k: int = 3
) -> Tensor:
    """Return P@k x R@k of each list, (B,); MCompassRAG, section 4.1.

    Args:
        scores: Shape (B, C).
        grades: Shape (B, C).
        present: Shape (B, C), bool.
        relevant: How many chunks are relevant, found or not, (B,).
        k: Places that count; a shorter list has fewer hits, and is divided by k as well.
    """
    first = scores.masked_fill(~present, -torch.inf).topk(min(k, scores.shape[1]), dim=1).indices
    hits = ((grades.gather(1, first) > 0) & present.gather(1, first)).sum(dim=1)
    return (hits / k) * (hits / relevant)


def _begin(seed: int) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more would add in another order each time


def _train(
    network: nn.Module,
    score: Callable[[Tensor], Tensor],
    lists: Lists,
    parts: tuple[Places, Places],
    settings: TrainSettings,
    progress: Progress,
) -> Trained:
    training, held_out = parts
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.rate, weight_decay=settings.decay
    )
    steps = settings.epochs * math.ceil(len(training) / settings.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=steps)
    targets = _Targets(lists, settings)
    order = np.random.default_rng(settings.seed)
    before = targets.efficiency(torch.from_numpy(lists.scores)[held_out][None], held_out)
    best, best_ie, kept = -1, before, copy.deepcopy(network.state_dict())
    epochs: list[Epoch] = []
    for epoch in range(settings.epochs):
        network.train()
        losses: list[float] = []
        shuffled = order.permutation(training)
        for start in range(0, len(shuffled), settings.batch):
            places = torch.from_numpy(shuffled[start : start + settings.batch])
            loss = targets.loss(score(places), places)
            if not torch.isfinite(loss):
                raise ModelError(
                    f"The loss is not finite in epoch {epoch + 1}: training went astray, nothing "
                    f"was written. Lower the rate, such as -o rate={settings.rate / 10:g}."
                )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        network.eval()
        loss, ie = _judge(score, targets, held_out)
        epochs.append(Epoch(sum(losses) / len(losses), loss, ie))
        if ie > best_ie:
            best, best_ie, kept = epoch, ie, copy.deepcopy(network.state_dict())
        progress(epoch + 1, settings.epochs)
        if epoch - best >= settings.patience:
            break
    network.load_state_dict(kept)
    network.eval()
    return Trained(tuple(epochs), best, len(training), len(held_out), before, best_ie)


@torch.no_grad()
def _judge(
    score: Callable[[Tensor], Tensor], targets: "_Targets", places: Places
) -> tuple[float, float]:
    parts = [torch.from_numpy(places[start : start + 64]) for start in range(0, len(places), 64)]
    scores = torch.cat([score(part) for part in parts], dim=1)
    return targets.loss(scores, torch.from_numpy(places)).item(), targets.efficiency(scores, places)


class _Targets:
    """What scores are compared with."""

    def __init__(self, lists: Lists, settings: TrainSettings) -> None:
        self._settings = settings
        self._grades = torch.from_numpy(lists.grades)
        self._teacher = torch.from_numpy(lists.teacher)
        self._present = torch.from_numpy(lists.present)
        self._relevant = torch.from_numpy(lists.relevant)

    def loss(self, scores: Tensor, places: Tensor) -> Tensor:
        """Return the loss of scores (S, B, C), summed over the members."""
        grades, present = self._grades[places], self._present[places]
        if self._settings.loss == "listwise":
            return torch.stack([listwise_loss(one, grades, present) for one in scores]).sum()
        labels, teacher = (grades > 0).float()[present], self._teacher[places][present]
        return torch.stack(
            [
                distillation_loss(
                    one[present],
                    labels,
                    teacher,
                    alpha=self._settings.alpha,
                    temperature=self._settings.temperature,
                )
                for one in scores
            ]
        ).sum()

    def efficiency(self, scores: Tensor, places: Places) -> float:
        """Return mean IE@3 of the mean of scores (S, B, C)."""
        each = information_efficiency(
            scores.mean(dim=0),
            self._grades[places],
            self._present[places],
            self._relevant[places],
        )
        return float(each.mean())
