"""What the scorer is trained to: section 3.3 of MCompassRAG, and a listwise loss beside it."""

import torch
from torch import Tensor
from torch.nn import functional


def distillation_loss(
    logits: Tensor, labels: Tensor, teacher: Tensor, *, alpha: float = 0.5, temperature: float = 1.0
) -> Tensor:
    """Return (1 - alpha) BCE + alpha KL, the mean over all pairs. Eq. 11.

    Args:
        logits: z of the student, any shape.
        labels: y, 0 or 1.
        teacher: z of the teacher.
        alpha: Share of the distillation, in [0, 1].
        temperature: tau, above 0.
    """
    hard = functional.binary_cross_entropy_with_logits(logits, labels)  # eq. 12
    soft = bernoulli_divergence(teacher / temperature, logits / temperature).mean()
    return (1 - alpha) * hard + alpha * soft


def bernoulli_divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """Return KL(sigmoid(teacher) || sigmoid(student)) of each pair of logits, >= 0. Eq. 13."""
    p = teacher.sigmoid()
    log_ratio = functional.logsigmoid(teacher) - functional.logsigmoid(student)
    log_other = functional.logsigmoid(-teacher) - functional.logsigmoid(-student)
    return p * log_ratio + (1 - p) * log_other


def listwise_loss(logits: Tensor, labels: Tensor, present: Tensor) -> Tensor:
    """Return the cross entropy of softmax(logits) with the relevant share alike (ListNet).

    Cao et al., ICML 2007, for the probability of coming first. A list without anything relevant,
    or without anything else, teaches nothing about order and is left out.

    Args:
        logits: Shape (B, C).
        labels: Grades, at least 0, (B, C).
        present: Whether there is a candidate at that place, (B, C), bool.
    """
    wanted = labels * present  # (B, C)
    total = wanted.sum(dim=1)  # (B,)
    useful = (total > 0) & ((wanted > 0).sum(dim=1) < present.sum(dim=1))
    if not useful.any():
        return (logits * 0).sum()
    scores = logits.masked_fill(~present, torch.finfo(logits.dtype).min)
    per_list = -(wanted * scores.log_softmax(dim=1)).sum(dim=1)[useful] / total[useful]
    return per_list.mean()
