"""`milepost topics`: what the passages of a collection are about, found and shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import options

if TYPE_CHECKING:
    from graph.model import Filter, TopicModel
    from graph.store import GraphStore

app = typer.Typer(help="Topics: what the passages are about.", no_args_is_help=True)

Model = Annotated[
    Literal["kmeans", "fastopic", "etm", "external"],
    typer.Option(help="What finds the topics; fastopic and etm need the extra topics."),
]
Number = Annotated[int, typer.Option("-k", help="How many topics.", min=2, max=4096)]
Temperature = Annotated[
    float | None,
    typer.Option(
        help="How a chunk spreads over topics: .02 gives it few, .2 many. By default the one that "
        "foretells the words of chunks held out best.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of whatever is drawn.", min=0, max=2**32 - 1)]
File = Annotated[
    Path | None, typer.Option(help="For --model external: NAME.npz, with NAME.json beside it.")
]
Topic = Annotated[
    str | None, typer.Argument(help="A topic's number or label; without it all are listed.")
]
Examples = Annotated[int, typer.Option("--examples", help="Passages to show.", min=0, max=100)]


@app.command()
def fit(
    model: Model = "kmeans",
    k: Number = 100,
    temperature: Temperature = None,
    seed: Seed = 0,
    file: File = None,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """Find topics, and write to each chunk how much it is about each of them.

    Example: milepost topics fit -k 100

    Topics are found in documents that you may see, and described by their words; all chunks of the
    collection are weighed, new ones when they are ingested. Topics found before are replaced once
    all is found; a run that is interrupted before changes nothing.
    """
    from app import settings, wiring
    from app.cli.counting import counting
    from app.cli.output import print_json
    from app.cli.topics_text import fit_as_dict, print_fit
    from graph.errors import UsageError
    from graph.model import Filter
    from ingestion.topic_fit import FitOptions
    from ingestion.topic_fit import fit as find_topics

    if temperature is not None and not 0 < temperature < float("inf"):
        raise UsageError(f"The temperature is {temperature}; it must be above 0, such as .05.")
    if (file is not None) != (model == "external"):
        raise UsageError("--model external and --file NAME.npz go together.")
    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    chosen = FitOptions(model, k, temperature, seed, file)
    with wiring.open_store(settings.load()) as store:
        found = find_topics(store, _embedder(store), where, chosen, counting)
    if json:
        print_json(fit_as_dict(found))
    else:
        print_fit(found)


@app.command()
def update(collection: options.Collection = "default", json: options.Json = False) -> None:
    """Weigh chunks that the present topics have not weighed yet.

    Example: milepost topics update

    Ingestion does so for new chunks; this is for a `topics fit` that was interrupted, or that ran
    while others were ingesting.
    """
    from app import settings, wiring
    from app.cli.counting import counting
    from app.cli.ingest_report import counted
    from app.cli.output import console, print_json
    from ingestion.topic_fit import update as weigh
    from ingestion.topic_models import required_topics

    with wiring.open_store(settings.load()) as store:
        topics = required_topics(store, collection)
        written = weigh(store, topics, _embedder(store), counting)
    if json:
        print_json({"collection": collection, "written": written})
    else:
        console().print(f"Weighed {counted(written, 'chunk')} of collection {collection!r}.")


@app.command()
def show(
    topic: Topic = None,
    examples: Examples = 3,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """List the topics, or show one with its words, scopes and passages.

    Example: milepost topics show 7

    Counts are of documents that you may see, and of chunks that have the topic among their three
    strongest.
    """
    from app import settings, wiring
    from app.cli.output import print_json
    from app.cli.topics_text import model_as_dict, print_model, print_topic, topic_as_dict
    from graph.model import Filter
    from ingestion.topic_models import required_topics

    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    with wiring.open_store(settings.load()) as store:
        model = required_topics(store, collection)
        if topic is None:
            counts = store.count_topics(where)
            coverage = store.count_theta(collection, model.fingerprint)
            if json:
                print_json(model_as_dict(model, counts, coverage))
            else:
                print_model(model, counts, coverage)
            return
        number = _number(store, model, topic, where)
        count = next(one for one in store.count_topics(where) if one.number == number)
        passages = store.topic_passages(number, where, examples) if examples else []
    if json:
        print_json(topic_as_dict(model, count, passages))
    else:
        print_topic(model, count, passages)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="The npz to write.")],
    collection: options.Collection = "default",
    audience: options.Audience = None,
) -> None:
    """Write chunks with their vectors, to fit a topic model outside of Milepost.

    Example: milepost topics export chunks.npz

    The arrays are chunk_ids, texts and vectors, and the order of rows is the same in each. Bring
    topics back with `milepost topics fit --model external --file NAME.npz`: theta (n, K) in the
    npz, and in NAME.json beside it "source", "chunk_ids" and "terms".
    """
    from app import settings, wiring
    from app.cli.counting import counting
    from app.cli.ingest_report import counted
    from app.cli.output import console
    from graph.model import Filter
    from ingestion.topic_external import export_chunks

    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    with wiring.open_store(settings.load()) as store, counting("reading chunks") as count:
        written = export_chunks(store, where, file, count)
    console().print(f"Wrote {counted(written, 'chunk')} to {file}.", highlight=False)


def _embedder(store: "GraphStore") -> str:
    """Return the fingerprint of the embedder that made the graph's vectors."""
    known = store.status().embedder
    return known.fingerprint if known else ""


def _number(store: "GraphStore", model: "TopicModel", topic: str, where: "Filter") -> int:
    """Return the number of the topic that is meant.

    Raises:
        UsageError: There is none that you may see.
    """
    from graph.errors import UsageError

    seen = {count.number for count in store.count_topics(where)}
    labels = {label: number for number, label in enumerate(model.labels) if number in seen}
    if topic in labels:
        return labels[topic]
    if topic.isdecimal() and int(topic) in seen:
        return int(topic)
    meant = [number for label, number in labels.items() if label.startswith(topic.lower())]
    if len(meant) == 1:
        return meant[0]
    several = f" {len(meant)} labels begin so." if meant else ""
    raise UsageError(
        f"There is no topic {topic!r} in collection {model.collection!r}.{several} "
        "List them: milepost topics show"
    )
