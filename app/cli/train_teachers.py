"""The teachers of `milepost train` that need an evaluation set or a chat model."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from app.cli.counting import counting

if TYPE_CHECKING:
    from app.wiring import App
    from eval.collection import EvaluationSet
    from graph.model import Filter
    from router.training_data import Labelled


def gold_of_set(
    app: "App",
    evaluation_set: "EvaluationSet",
    split: Literal["dev", "test", "all"],
    *,
    by_document: bool,
) -> "list[Labelled]":
    """Return the labelled questions of a set, which is loaded if it is not in the graph."""
    from app.cli.eval import load_into_graph
    from eval.collection import part_of
    from eval.load import collection_name
    from eval.relevance import Judge
    from router.teach_gold import gold

    collection = collection_name(evaluation_set)
    load_into_graph(app, evaluation_set, collection)
    judge = Judge(evaluation_set, collection, app.store)
    questions = part_of(evaluation_set.questions, split, by_document=by_document)
    judged = judge.judge(questions, "span", "chunk").relevance
    documents = {
        chunk.id: chunk.document_id
        for batch in app.store.chunks(collection, with_vectors=False)
        for chunk in batch.chunks
    }
    pairs = [(one.text, judged[one.key].grades) for one in questions if one.key in judged]
    return gold(pairs, documents)


def questions_of_model(
    app: "App", where: "Filter", path: Path, *, chunks: int, seed: int, yes: bool
) -> "list[Labelled]":
    """Let the chat model that is set make and judge questions, once the cost is agreed to."""
    from app.systems import completer
    from router import teach_llm
    from router.training_data import read_labelled

    plan = teach_llm.Plan(chunks=chunks, seed=seed)
    drawn = teach_llm.draw(app.store, where.collection, plan, teach_llm.done_chunks(path))
    if not drawn:
        return read_labelled(path)
    cost = teach_llm.estimate(drawn, plan)
    typer.echo(
        f"{len(drawn):,} passages, {plan.queries} questions each, {plan.judged} candidates judged: "
        f"{cost.calls:,} calls of {app.settings.model}, about {cost.prompt_tokens:,} tokens to "
        f"read and {cost.reply_tokens:,} to write. What is done is kept in {path}.",
        err=True,
    )
    if not yes:
        typer.confirm("Begin?", abort=True, err=True)
    complete = completer(app.settings, answer_tokens=2_000)
    tools = teach_llm.Tools(complete, app.store, app.embedder)
    with counting("Asking the teacher") as count:
        return teach_llm.teach(drawn, plan, path, where, tools, count)
