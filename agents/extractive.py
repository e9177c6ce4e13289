"""Answers without a chat model: the sentences that answer the question best, quoted.

A sentence's score is its similarity to the question by the embedder, plus the share of the
question's words that it has (rare ones count more), plus its passage's rank. Only the likeliest
sentences are embedded: embedding takes nearly all of the time, and more of them changed nothing.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.abbreviations import expanded, find_abbreviations
from agents.answer import ABSTENTION
from agents.passages import describe, disarm
from agents.question import Question, parse
from agents.quotable import Quotable, folded_words, quotables, similarity
from agents.state import Draft
from graph.model import Hit
from graph.ports import Embedder

NOTICE = "The documents say, word for word (no chat model was used):"

# Chosen on questions whose answering sentence is known (see SUPPORT): all of them may be changed by
# a third without a difference beyond noise, so none is fitted more finely than this.
COVERAGE_WEIGHT = 0.8
"""Share of the question's words, weighted by rarity; the cosine's weight is 1."""
RANK_WEIGHT = 0.2
"""Divided by the passage's rank."""
LITERAL_WEIGHT = 0.1
"""Share of the question's figures and quoted phrases that are there as they stand."""
DEFINITION_WEIGHT = 0.2
"""For "X is ..." where the question was "What is X?"."""
MISMATCH_PENALTY = 0.2
"""For a stretch without a figure (a time) where the question asks for one."""
TORN_PENALTY = 0.15
"""For what is no whole sentence: a table's row, the end of a sentence."""
SUPERSEDED_PENALTY = 0.05
"""For an edition that is not the current one, nor the one that the question names."""

MOST_PASSAGES = 20
"""Hits to quote from: the best ones."""
SHORTLIST = 12
"""Stretches to embed: with 32 of them the same sentences are chosen."""
MOST_SENTENCES = 5
MOST_WORDS = 150
"""Of all quotations together; the best one is quoted whatever its length."""
MARGIN = 0.2
"""What a further sentence's score may be below the best one's."""
REPEATS = 0.6
"""Share of words in common (Jaccard) from which two sentences say the same."""
CONTAINED = 0.8
"""Share of the shorter one's words that are in the longer one, likewise."""

SUPPORT = 0.8
"""Below this a sentence is no answer; without one, the documents do not say.

Chosen on one half of two question sets with known answers, XQuAD's English part (588 questions) and
that of Chroma's chunking evaluation without its financial corpus (182), each question asked twice:
of all passages, and of all but those that answer it. The latter is the hardest kind of question
without an answer, as the rest of the same article still matches. On the other half .8 answers 92%
(84%) of the questions, 94% of XQuAD's rightly, and abstains from 85% (46%) of the unanswerable
ones; .7 would answer 96% (92%) and abstain from 71% (30%). Of 200 of these questions asked of
agency documents, which do not treat them, none is answered.
"""


@dataclass(frozen=True, slots=True)
class Scored:
    """A stretch with how well it answers."""

    quotable: Quotable
    fits: bool
    """Whether it has what the question asks for: a figure, a time."""
    score: float
    """Compares stretches for one question."""
    support: float
    """Compares questions: without the rank, and with the words of section and title."""


def extract(text: str, hits: Sequence[Hit], embedder: Embedder) -> Draft:
    """Return the answer as quotations, each with its citation, or `ABSTENTION`.

    Raises:
        ModelError: The embedder failed.
    """
    question = parse(text)
    hits = hits[:MOST_PASSAGES]
    chosen = choose(question, score(question, hits, embedder))
    lines = [f"- “{disarm(one.quotable.text)}” [Source {one.quotable.n}]" for one in chosen]
    answer = "\n".join([NOTICE, "", *lines]) if lines else ABSTENTION
    return Draft(text=answer, extractive=True, shown=len(hits), llm_calls=0, tokens=0)


def score(question: Question, hits: Sequence[Hit], embedder: Embedder) -> list[Scored]:
    """Score the likeliest stretches, best first; equal ones stay in the order of the hits."""
    candidates = _candidates(question, hits)
    if not candidates:
        return []
    frames = [f"{describe(hit.passage)}\n{hit.passage.heading}" for hit in hits]
    lexicon = find_abbreviations(question.text, [*(hit.passage.text for hit in hits), *frames])
    words = {one: expanded(one.words, lexicon) for one in candidates}
    weights = _weights(question.words, list(words.values()))
    form = {one: _form(question, one) for one in candidates}
    lexical = {one: COVERAGE_WEIGHT * _coverage(words[one], weights) for one in candidates}
    rank = {one: RANK_WEIGHT / one.rank for one in candidates}
    likeliest = sorted(candidates, key=lambda one: -(lexical[one] + form[one] + rank[one]))
    likeliest = likeliest[:SHORTLIST]
    vectors = embedder.embed([one.text for one in likeliest])
    cosines: list[float] = (vectors @ embedder.embed_query(question.text)).tolist()
    scored: list[Scored] = []
    for one, cosine in zip(likeliest, cosines, strict=True):
        framed = words[one] | expanded(frozenset(folded_words(frames[one.n - 1])), lexicon)
        support = cosine + COVERAGE_WEIGHT * _coverage(framed, weights) + form[one]
        fits = question.is_met_by(one.text)
        scored.append(Scored(one, fits, cosine + lexical[one] + form[one] + rank[one], support))
    return sorted(scored, key=lambda one: -one.score)


def choose(question: Question, scored: Sequence[Scored]) -> list[Scored]:
    """Take the best, and others nearly as good that add something; in an order to read them.

    What comes from one passage stays together and in its order; the best one's passage is first.
    """
    if not scored:
        return []
    near = [one for one in scored if one.score >= scored[0].score - MARGIN]
    good = [one for one in near if one.support >= SUPPORT]
    fitting = [one for one in good if one.fits]
    if question.wants_a_figure and not fitting:
        return []
    chosen: list[Scored] = []
    room = MOST_WORDS
    for one in fitting or good:
        length = len(one.quotable.text.split())
        repeated = any(_repeats(one.quotable, other.quotable) for other in chosen)
        if not repeated and (length <= room or not chosen) and len(chosen) < MOST_SENTENCES:
            chosen.append(one)
            room -= length
    order = {n: i for i, n in reversed(list(enumerate(one.quotable.n for one in chosen)))}
    return sorted(chosen, key=lambda one: (order[one.quotable.n], one.quotable.position))


def _candidates(question: Question, hits: Sequence[Hit]) -> list[Quotable]:
    """Return what can be quoted; where the question names an edition, only what is of it.

    If that edition was not found, what mentions it remains: another edition must not answer for it.
    """
    named = [_mentions(question.editions, hit.passage.edition or "") for hit in hits]
    if any(named):
        return [one for one in quotables(hits, named) if one.preferred]
    found = quotables(hits, [hit.passage.is_current for hit in hits])
    if question.editions:
        return [one for one in found if _mentions(question.editions, one.text)]
    return found


def _mentions(editions: frozenset[str], text: str) -> bool:
    return not editions.isdisjoint(re.findall(r"\d+(?:\.\d+)*", text))


def _weights(words: Iterable[str], candidates: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each word of the question by how rare it is among the candidates (idf)."""
    return {
        word: math.log(1 + len(candidates) / (0.5 + sum(word in one for one in candidates)))
        for word in words
    }


def _coverage(words: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the weighted share of the question's words that are among `words`, in [0, 1]."""
    total = sum(weights.values())
    return sum(weights[word] for word in weights if word in words) / total if total else 0.0


def _form(question: Question, one: Quotable) -> float:
    """Return what a stretch gains or loses by its form."""
    form = -TORN_PENALTY * (not one.whole) - SUPERSEDED_PENALTY * (not one.preferred)
    if question.literals:
        text = one.text.lower()
        found = sum(literal in text for literal in question.literals)
        form += LITERAL_WEIGHT * found / len(question.literals)
    if question.opening and question.opening.match(one.text):
        form += DEFINITION_WEIGHT
    if not question.is_met_by(one.text):
        form -= MISMATCH_PENALTY
    return form


def _repeats(a: Quotable, b: Quotable) -> bool:
    shared = len(a.words & b.words)
    smaller = min(len(a.words), len(b.words))
    return similarity(a.words, b.words) >= REPEATS or shared >= CONTAINED * smaller
