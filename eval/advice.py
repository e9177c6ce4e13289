"""What a measured dilution means, in plain sentences.

The bounds come from the dilution paper's table 1: categories with delta around .1 resist dilution,
those with .4 to .5 suffer most.
"""

from collections.abc import Sequence

from eval.dilution import Dilution, Leak, ScopeDilution

HARDLY = 0.10
DILUTED = 0.25
ALIKE = 0.20
"""Share that two scopes take of each other's neighbours, from which a router confuses them too."""

_NAMED = 3
"""Scopes or leaks that are named in a sentence."""


def advice(found: Dilution) -> str:
    """Say whether the collection is diluted, whether scoping would help, and what leaks where."""
    if len(found.scopes) == 1:
        return (
            f"All {found.chunks:,} chunks are of one scope, so nothing can come from a wrong one: "
            "scoping cannot help. Give documents scopes by folders or a scope map to see more."
        )
    measurable = [one for one in found.scopes if one.is_measurable]
    if len(measurable) < 2:
        return (
            f"Fewer than two scopes have more than {found.neighbours} chunks: too little to tell "
            "whether the collection is diluted. Ingest more, or divide it more coarsely."
        )
    sentences = [_verdict(found, measurable), *_leaks(found, measurable), _too_small(found)]
    return " ".join(sentence for sentence in sentences if sentence)


def _verdict(found: Dilution, measurable: Sequence[ScopeDilution]) -> str:
    suffering = [one for one in measurable if one.delta_hat >= DILUTED]
    wrong = _percent(found.by_chunk)
    opening = f"{wrong} of a chunk's {found.neighbours} nearest neighbours are of another scope"
    if not suffering and found.by_chunk < HARDLY:
        worst = measurable[0]
        return (
            f"{opening}, and {_percent(worst.delta_hat)} in the worst case ({worst.scope}): the "
            "collection is hardly diluted. Scoping has little to gain; let a scope be a hint, not "
            "a filter."
        )
    if not suffering:
        return (
            f"{opening}: the collection is somewhat diluted, and no scope suffers much. Scoping "
            "may help a little where the router is sure."
        )
    listed = _listed([f"{one.scope} ({_percent(one.delta_hat)})" for one in suffering])
    if found.by_chunk >= DILUTED:
        return (
            f"{opening}: the collection is diluted. Scoping would help most in {listed}, where "
            "questions can be routed."
        )
    return (
        f"{opening} on the whole, but smaller scopes fare worse: the collection is diluted in "
        f"parts. Scoping would help questions that belong to {listed}, where they can be routed."
    )


def _leaks(found: Dilution, measurable: Sequence[ScopeDilution]) -> list[str]:
    known = {one.scope for one in measurable}
    leaks = [leak for leak in found.leaks(HARDLY) if {leak.asking, leak.answering} <= known]
    sentences: list[str] = []
    if leaks:
        worst = [f"{leak.answering} into {leak.asking} ({_percent(leak.share)})" for leak in leaks]
        sentences.append(f"What leaks most: {_listed(worst)}.")
    if alike := _alike(leaks):
        pairs = [f"{a} and {b}" for a, b in alike]
        sentences.append(
            f"Each of {_listed(pairs)} finds the other as a neighbour: a router will confuse them "
            "too, so never filter by one of them alone, or make them one scope."
        )
    return sentences


def _alike(leaks: Sequence[Leak]) -> list[tuple[str, str]]:
    strong = [(leak.asking, leak.answering) for leak in leaks if leak.share >= ALIKE]
    return [(a, b) for a, b in strong if a < b and (b, a) in strong]


def _too_small(found: Dilution) -> str:
    small = [one.scope for one in found.scopes if not one.is_measurable]
    if not small:
        return ""
    return f"Too small to tell, with {found.neighbours} chunks or fewer: {_listed(small)}."


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        return f"{', '.join(shown)} and {len(names) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _percent(share: float) -> str:
    return f"{share:.0%}"
