"""The loop that trains a scorer: batches of questions, AdamW, a stop where held-out IE stalls."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graph.errors import ModelError, UsageError
from router.compass_loss import distillation_loss, listwise_loss
from router.training_data import Progress
from router.training_lists import Lists

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
    members: int = 5
    """Of the blend; each holds out another part of the documents."""
    held_out: float = 0.2
    """Share of the documents that a network without members holds out."""
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


def train(
    network: nn.Module,
    score: Callable[[Tensor], Tensor],
    lists: Lists,
    folds: Places,
    settings: TrainSettings,
    progress: Progress,
) -> Trained:
    """Train S members: member s learns from all lists whose fold is not s."""
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.rate, weight_decay=settings.decay
    )
    targets = _Targets(lists, folds, settings)
    steps = settings.epochs * math.ceil(len(targets.training) / settings.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=steps)
    order = np.random.default_rng(settings.seed)
    before = targets.efficiency(torch.from_numpy(lists.scores)[targets.held_out])
    network.eval()
    # A blend begins as the mix; a network with weights drawn at random begins far below it.
    best, best_ie = -1, _judge(score, targets, 0.0).held_out_ie
    kept = copy.deepcopy(network.state_dict())
    epochs: list[Epoch] = []
    for epoch in range(settings.epochs):
        network.train()
        losses: list[float] = []
        shuffled = order.permutation(targets.training)
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
        epochs.append(_judge(score, targets, sum(losses) / len(losses)))
        if epochs[-1].held_out_ie > best_ie:
            best, best_ie = epoch, epochs[-1].held_out_ie
            kept = copy.deepcopy(network.state_dict())
        progress(epoch + 1, settings.epochs)
        if epoch - best >= settings.patience:
            break
    network.load_state_dict(kept)
    network.eval()
    counts = len(targets.training), len(targets.held_out)
    return Trained(tuple(epochs), best, *counts, before, best_ie)


@torch.no_grad()
def _judge(score: Callable[[Tensor], Tensor], targets: "_Targets", loss: float) -> Epoch:
    places = torch.from_numpy(targets.held_out)
    parts = [places[at : at + _AT_ONCE] for at in range(0, len(places), _AT_ONCE)]
    scores = torch.cat([targets.unseen(score(part), part) for part in parts])
    return Epoch(loss, targets.held_out_loss(scores), targets.efficiency(scores))


_AT_ONCE = 64


class _Targets:
    """What scores are compared with."""

    def __init__(self, lists: Lists, folds: Places, settings: TrainSettings) -> None:
        self._settings = settings
        self._grades = torch.from_numpy(lists.grades)
        self._teacher = torch.from_numpy(lists.teacher)
        self._present = torch.from_numpy(lists.present)
        self._relevant = torch.from_numpy(lists.relevant)
        self._folds = torch.from_numpy(folds)
        self.held_out: Places = np.flatnonzero(folds < settings.members)
        self.training: Places = (
            np.arange(len(folds)) if settings.members > 1 else np.flatnonzero(folds != 0)
        )

    def loss(self, scores: Tensor, places: Tensor) -> Tensor:
        """Return the loss of scores (S, B, C), summed over the members."""
        seen = [self._folds[places] != member for member in range(len(scores))]
        return torch.stack(
            [self._loss(one[kept], places[kept]) for one, kept in zip(scores, seen, strict=True)]
        ).sum()

    def unseen(self, scores: Tensor, places: Tensor) -> Tensor:
        """Return what the member that did not learn from a list makes of it, (B, C)."""
        return scores[self._folds[places], torch.arange(len(places))]

    def held_out_loss(self, scores: Tensor) -> float:
        """Return the loss of scores (B, C) of all that is held out."""
        return self._loss(scores, torch.from_numpy(self.held_out)).item()

    def efficiency(self, scores: Tensor) -> float:
        """Return mean IE@3 of scores (B, C) of all that is held out."""
        places = self.held_out
        each = information_efficiency(
            scores, self._grades[places], self._present[places], self._relevant[places]
        )
        return float(each.mean())

    def _loss(self, scores: Tensor, places: Tensor) -> Tensor:
        if not len(places):
            return scores.sum() * 0
        grades, present = self._grades[places], self._present[places]
        if self._settings.loss == "listwise":
            return listwise_loss(scores, grades, present)
        return distillation_loss(
            scores[present],
            (grades > 0).float()[present],
            self._teacher[places][present],
            alpha=self._settings.alpha,
            temperature=self._settings.temperature,
        )
