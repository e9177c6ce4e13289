from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from graph.errors import ModelError, UsageError
from graph.model import Filter
from ingestion.topic_models import CosineTopics
from router.compass import CompassConfig
from router.teach_gold import gold
from router.teach_headings import headings
from router.teach_llm import Plan, Tools, done_chunks, draw, estimate, teach
from router.train_compass import divided, train_blend, train_network
from router.training_data import (
    Example,
    Labelled,
    instructive,
    read_labelled,
    search_examples,
    write_labelled,
)
from router.training_lists import LEAST_QUESTIONS, Lists, logit, make_lists
from router.training_loop import TrainSettings, information_efficiency
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
THINGS = ("bridge", "culvert", "tunnel", "road", "signal", "fence", "drain", "kerb", "sign", "rail")
TOPICS = CosineTopics("kmeans", "t", EMBEDDER.embed(list(THINGS[:4])), ((),) * 4, 0.1)
SETTINGS = TrainSettings(epochs=3, hidden=4, members=2, batch=8)


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    store = MemoryStore()
    for n in range(40):
        thing, other = THINGS[n % 10], THINGS[(n * 7 + 3) % 10]
        texts = (
            f"The {thing} of district {n} is inspected and the {other} is not.",
            f"District {n} paints the {thing} and the {other} in {n + 1} colours.",
        )
        store.write([make_document(f"doc{n}", *texts)])
    store.finish("default")
    return store


def labelled(store: MemoryStore) -> list[Labelled]:
    return [
        Labelled(
            f"Who paints the {THINGS[n % 10]} of district {n}?", id, "gold", {item.chunks[1].id: 1}
        )
        for n, (id, item) in enumerate(store.items.items())
    ]


@pytest.fixture(scope="module")
def lists(store: MemoryStore) -> Lists:
    examples = search_examples(labelled(store), Filter(), store, EMBEDDER, with_topics=False)
    return make_lists(
        examples,
        TOPICS,
        lambda found: TOPICS.theta(np.stack([one.vector for one in found]), [""] * len(found)),  # type: ignore[misc]
    )


def test_the_same_seed_gives_the_same_weights_bit_for_bit(lists: Lists) -> None:
    first, second = (train_blend(lists, SETTINGS)[0] for _ in range(2))
    other, _ = train_blend(lists, replace(SETTINGS, seed=1))

    assert all((first.arrays()[n] == array).all() for n, array in second.arrays().items())
    assert any((first.arrays()[n] != array).any() for n, array in other.arrays().items())


def test_numpy_scores_as_torch_does(lists: Lists) -> None:
    from router.train_blend import BlendNetwork

    torch.manual_seed(0)
    network = BlendNetwork(lists.features[lists.present], 3, 5, 0.5).eval()
    torch.nn.init.normal_(network.last)
    torch.nn.init.normal_(network.linear)
    features, base = lists.features[0], lists.scores[0]

    with torch.no_grad():
        expected = network(torch.from_numpy(features)[None], torch.from_numpy(base)[None])

    ours = network.blend().scores(features, base)
    assert np.allclose(ours, expected.mean(dim=0)[0].numpy(), atol=1e-3)


def test_training_learns_what_the_mix_does_not_know(lists: Lists) -> None:
    _, trained = train_blend(lists, replace(SETTINGS, epochs=15, rate=1e-2, decay=0.0))

    assert trained.epochs[-1].loss < trained.epochs[0].loss
    assert trained.after >= trained.before


def test_no_document_is_both_trained_on_and_held_out(lists: Lists) -> None:
    training, held_out = divided(lists.documents, SETTINGS)

    documents = np.array(lists.documents)
    assert not set(documents[training]) & set(documents[held_out])
    assert len(training) + len(held_out) == len(documents)


@pytest.mark.parametrize("selection", ["concatenated", "bilinear", "none"])
def test_the_network_trains_on_the_same_lists(lists: Lists, selection: str) -> None:
    config = CompassConfig(
        dimensions=EMBEDDER.dimensions,
        topics=4,
        entries=5,
        strongest=2,
        heads=2,
        feedforward=8,
        hidden=(8, 4),
        selection=selection,  # type: ignore[arg-type]
    )
    settings = replace(SETTINGS, loss="distillation", members=1, patience=5)

    _, trained = train_network(lists, config, TOPICS.centroids, settings)
    _, again = train_network(lists, config, TOPICS.centroids, settings)

    assert trained == again
    assert trained.epochs[-1].loss < trained.epochs[0].loss


def test_a_loss_that_is_not_finite_ends_the_training(lists: Lists) -> None:
    broken = replace(lists, features=np.where(lists.features > 0, np.nan, lists.features))

    with pytest.raises(ModelError, match="not finite"):
        train_blend(broken, SETTINGS)


def test_questions_of_one_document_cannot_be_divided(lists: Lists) -> None:
    same = replace(lists, documents=("one",) * len(lists.documents))

    with pytest.raises(UsageError, match="too few to hold some out"):
        train_blend(same, SETTINGS)


def test_information_efficiency_is_precision_times_recall() -> None:
    scores = torch.tensor([[3.0, 2.0, 1.0, 0.0, 9.0]])
    grades = torch.tensor([[1.0, 0.0, 2.0, 1.0, 1.0]])
    present = torch.tensor([[True, True, True, True, False]])

    found = information_efficiency(scores, grades, present, torch.tensor([4]))

    assert found.item() == pytest.approx((2 / 3) * (2 / 4))


@pytest.mark.parametrize(
    "changes", [{"epochs": 0}, {"rate": 0.0}, {"dropout": 1.0}, {"loss": "other"}]
)
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        replace(SETTINGS, **changes).check()  # type: ignore[arg-type]


def test_too_few_questions_are_refused(store: MemoryStore) -> None:
    few = search_examples(labelled(store)[:3], Filter(), store, EMBEDDER, with_topics=False)

    with pytest.raises(UsageError, match=str(LEAST_QUESTIONS)):
        make_lists(few, None, lambda _: np.zeros((0, 0), np.float32))


def test_questions_to_which_everything_is_relevant_are_refused(store: MemoryStore) -> None:
    everything = {chunk.id: 1 for item in store.items.values() for chunk in item.chunks}
    one_sided = [replace(one, grades=everything) for one in labelled(store)]
    examples = search_examples(one_sided, Filter(), store, EMBEDDER, with_topics=False)

    with pytest.raises(UsageError, match="one-sided"):
        make_lists(examples, None, lambda _: np.zeros((0, 0), np.float32))


def test_a_question_whose_answer_is_not_found_teaches_nothing(store: MemoryStore) -> None:
    lost = replace(labelled(store)[0], grades={"elsewhere": 1})
    examples = search_examples(
        [lost, labelled(store)[1]], Filter(), store, EMBEDDER, with_topics=False
    )

    assert instructive(examples) == examples[1:]


def test_a_candidate_that_the_teacher_judged_relevant_is_no_negative(store: MemoryStore) -> None:
    examples = search_examples(labelled(store), Filter(), store, EMBEDDER, with_topics=False)
    other = examples[0].candidates[0].passage.chunk_id
    if other in examples[0].labelled.grades:
        other = examples[0].candidates[1].passage.chunk_id
    judged = replace(examples[0].labelled, judged={other: 1.0})
    examples[0] = Example(judged, examples[0].vector, examples[0].candidates)

    made = make_lists(examples, None, lambda _: np.zeros((0, 0), np.float32))

    ids = [one.passage.chunk_id for one in examples[0].candidates]
    assert not made.present[0, ids.index(other)]
    assert made.present[0, : len(ids)].sum() == len(ids) - 1


def test_a_logit_is_kept_from_infinity() -> None:
    assert logit(0.5) == 0
    assert logit(1.0) == pytest.approx(np.log(0.98 / 0.02))


def test_training_data_is_read_as_it_was_written(tmp_path: Path) -> None:
    data = [
        Labelled("Who?", "d", "llm", {"c": 2}, "Who of them?", {"e": 0.25}),
        Labelled("Où ça ?", "d", "gold", {"c": 1}),
    ]

    write_labelled(data, tmp_path / "data.jsonl")

    assert read_labelled(tmp_path / "data.jsonl") == data


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"question": " ", "document": "d", "teacher": "t", "grades": {"c": 1}}',
        '{"question": "q", "document": "d", "teacher": "t", "grades": {}}',
        '{"question": "q", "document": "d", "teacher": "t", "grades": {"c": 0}}',
        '{"question": "q", "document": "d", "teacher": "t", "grades": {"c": 1}, '
        '"judged": {"c": 7}}',
        '["a list"]',
    ],
)
def test_a_wrong_line_of_training_data_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f"\n{line}\n", "utf-8")

    with pytest.raises(UsageError, match="line 2"):
        read_labelled(path)


def test_headings_ask_for_the_chunks_of_their_section(store: MemoryStore) -> None:
    found = headings(store, "default")

    assert all(one.teacher == "headings" for one in found)
    first = found[0]
    item = store.items[first.document]
    heading = next(chunk.heading for chunk in item.chunks if chunk.id in first.grades)
    assert set(first.grades) == {c.id for c in item.chunks if c.heading == heading}


def test_without_titles_there_is_nothing_to_ask() -> None:
    with pytest.raises(UsageError, match="--teacher gold"):
        headings(MemoryStore(), "default")


def test_gold_leaves_out_what_has_no_answer() -> None:
    found = gold([("q", {"b": 1, "a": 2}), ("r", {})], {"a": "da", "b": "db"})

    assert found == [Labelled("q", "da", "gold", {"b": 1, "a": 2})]


class Scripted:
    """A chat model that writes two questions of each chunk and finds every other one relevant."""

    def __init__(self, reply: str | None = None) -> None:
        self.prompts: list[str] = []
        self.reply = reply

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if "JSON array" not in prompt:
            return str(len(self.prompts) % 2)
        if self.reply is not None:
            return self.reply
        return 'Here: [{"base": "Who paints?", "expanded": "Who paints the kerb?"}, {"base": "B?"}]'


def test_the_model_sees_a_chunk_with_its_neighbours_and_judges_the_candidates(
    store: MemoryStore, tmp_path: Path
) -> None:
    plan, model = Plan(chunks=2, queries=2, judged=3), Scripted()
    drawn = draw(store, "default", plan, frozenset())

    found = teach(drawn, plan, tmp_path / "t.jsonl", Filter(), Tools(model, store, EMBEDDER))

    assert len(found) == 4
    assert [one.expanded for one in found[:2]] == ["Who paints the kerb?", "B?"]
    assert all(len(one.judged) == 3 and not set(one.judged) & set(one.grades) for one in found)
    assert len(model.prompts) == estimate(drawn, plan).calls
    neighbour = drawn[0].previous or drawn[0].next
    assert drawn[0].chunk.text in model.prompts[0]
    assert neighbour in model.prompts[0]
    assert "Who paints the kerb?" in model.prompts[1]


def test_a_teacher_that_was_stopped_goes_on_where_it_was(
    store: MemoryStore, tmp_path: Path
) -> None:
    plan, path = Plan(chunks=4, queries=2, judged=1), tmp_path / "t.jsonl"
    tools = Tools(Scripted(), store, EMBEDDER)
    drawn = draw(store, "default", plan, frozenset())
    teach(drawn[:1], plan, path, Filter(), tools)

    left = draw(store, "default", plan, done_chunks(path))
    found = teach(left, plan, path, Filter(), tools)

    assert [one.chunk.id for one in left] == [one.chunk.id for one in drawn[1:]]
    assert len(found) == 8


@pytest.mark.parametrize("reply", ["I cannot.", "[1, 2]", '[{"other": "x"}]', "{}"])
def test_a_model_that_makes_no_question_is_said(
    store: MemoryStore, tmp_path: Path, reply: str
) -> None:
    plan = Plan(chunks=1)
    drawn = draw(store, "default", plan, frozenset())
    tools = Tools(Scripted(reply), store, EMBEDDER)

    with pytest.raises(ModelError, match="made no question"):
        teach(drawn, plan, tmp_path / "t.jsonl", Filter(), tools)
