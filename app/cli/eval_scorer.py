"""`milepost eval scorer`: what the trained scorer gains, part by part, as tables and a picture."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.cli.eval import DEFAULT_SETS, SetsFolder

if TYPE_CHECKING:
    from app.wiring import App
    from eval.results import Results
    from eval.scorer_run import Material, ScorerOptions
    from router.comparison import PairScorer
    from router.late_interaction import LateInteraction
    from router.training_data import Example

SETS = (
    "mtrag_un,chunking_evaluation,legalbench_rag_sample,cranfield,editions,xquad,wa_revenue,"
    "composite"
)
PARTS = ("compare", "elsewhere", "ablations", "topics", "models", "curve", "teachers")
LATE_CHUNKS = 2_500
"""Up to which late interaction is compared: it embeds passages anew, word by word."""
SMALL = 250
"""Questions up to which all parts are compared; the main ones of larger sets."""
COUNTS = (50, 100, 200, 500, 1000, 2000)
TOPIC_SYSTEMS = {"blend": 2000, "products, own_topics": 2000, "products": 200}
"""Systems compared by K, up to which K: the Transformer is as wide as there are topics."""
MODELS = ("kmeans", "etm", "fastopic")
MODEL_TOPICS = 40
HEADINGS = 400


def scorer(
    sets_named: Annotated[str, typer.Option("--set", help="Sets, joined by commas.")] = SETS,
    parts: Annotated[
        str, typer.Option(help="Parts to run, joined by commas; by default all of them.")
    ] = ",".join(PARTS),
    detail: Annotated[
        str, typer.Option(help="Sets of the parts topics, models and teachers, by commas.")
    ] = "mtrag_un",
    topics: Annotated[int, typer.Option(help="How many topics, K.", min=4)] = 100,
    seeds: Annotated[int, typer.Option(help="How many trainings of each system.", min=1)] = 3,
    folds: Annotated[int, typer.Option(help="Parts that documents are divided into.", min=2)] = 5,
    sets: SetsFolder = DEFAULT_SETS,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results, tables and picture.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare the scorer and its parts with what needs no training, on documents it has not seen.

    What the folder holds already is not measured again, so a run that ended early goes on.

    Example: milepost eval scorer --set mtrag_un --parts compare,ablations
    """
    from app import settings, wiring
    from app.cli.output import console, print_json, progress_console
    from eval.results import read_results, write_results
    from eval.scorer_report import draw, markdown
    from eval.scorer_run import ScorerOptions
    from graph.errors import UsageError

    configured = settings.load()
    chosen = ScorerOptions(topics=topics, folds=folds, seeds=tuple(range(seeds)))
    wanted = _named(parts, PARTS)
    folder = out or configured.cache_dir / "eval" / "scorer"
    found: dict[str, Results] = {}
    with wiring.open_app(configured, migrate=True) as app:
        work = _Work(app, sets, chosen, tuple(_split(sets_named)), frozenset(_split(detail)))
        for name, part, of in work.plan(wanted):
            path = folder / f"{name}.json"
            if not path.is_file():
                progress_console().print(name, highlight=False)
                try:
                    results = work.run(part, of)
                except UsageError as error:
                    if part != "teachers":
                        raise
                    progress_console().print(f"Not measured: {error}", highlight=False)
                    continue
                write_results(results, path)
            found[name] = read_results(path)
    text = markdown(found)
    (folder / "tables.md").write_text(text, "utf-8")
    draw(found, folder / "scorer.png")
    if json:
        print_json({name: one.model_dump(mode="json") for name, one in found.items()})
    else:
        console().print(text, markup=False, highlight=False, soft_wrap=True)
        progress_console().print(f"Tables and picture: {folder}", soft_wrap=True)


class _Work:
    """Runs parts; the candidates of each set are searched for once."""

    def __init__(
        self,
        app: "App",
        sets: Path,
        chosen: "ScorerOptions",
        names: tuple[str, ...],
        detail: frozenset[str],
    ) -> None:
        self._app, self._sets, self._chosen = app, sets, chosen
        self._names, self._detail = names, detail
        self._known: dict[str, Material] = {}
        self._token_vectors: LateInteraction | None = None

    def plan(self, wanted: list[str]) -> Iterator[tuple[str, str, str]]:
        """Return name, part and set of all that is to be run, the cheapest part first."""
        for part in wanted:
            for name in self._names:
                is_detail = part in ("topics", "models", "teachers")
                if not is_detail or name in self._detail:
                    yield f"{part}-{name}", part, name

    def run(self, part: str, name: str) -> "Results":
        """Run one part for one set."""
        from eval import scorer_parts
        from eval.scorer_run import kmeans_of

        material = self._material(name)
        if part == "elsewhere":
            others = [self._material(one) for one in self._others(name)]
            return scorer_parts.elsewhere(material, others, self._chosen.topics)
        if part == "topics":
            return scorer_parts.topic_counts(material, COUNTS, TOPIC_SYSTEMS)
        if part == "models":
            return scorer_parts.topic_models(
                material,
                self._app.store,
                self._app.embedder,
                MODELS,
                MODEL_TOPICS,
                ("blend", "products, own_topics"),
            )
        found = kmeans_of(material, self._chosen.topics)
        if part == "curve":
            return scorer_parts.learning_curve(material, found)
        if part == "teachers":
            return scorer_parts.teachers(material, {"headings": self._headings(material)}, found)
        if part == "ablations":
            is_small = len(material.asked) <= SMALL
            return scorer_parts.ablations(material, found, everything=is_small)
        return self._compare(material)

    def _compare(self, material: "Material") -> "Results":
        from eval import scorer_parts
        from eval.scorer_latency import latency
        from eval.scorer_run import kmeans_of

        found = kmeans_of(material, self._chosen.topics)
        late = self._late() if material.chunks <= LATE_CHUNKS else None
        spent = latency(material, found, self._app.store, self._app.embedder)
        return scorer_parts.compare(
            material, found, late, spent, everything=len(material.asked) <= SMALL
        )

    def _late(self) -> "PairScorer":
        from ingestion.model_files import find_model
        from router.late_interaction import LateInteraction

        if self._token_vectors is None:
            settings = self._app.settings
            name = settings.late_interaction_model or settings.embedder
            self._token_vectors = LateInteraction(find_model(name))
        return self._token_vectors.scores

    def _material(self, name: str) -> "Material":
        from app.cli.eval import load_into_graph
        from eval.load import collection_name
        from eval.scorer_run import gather
        from eval.sets import load_set

        if name not in self._known:
            app = self._app
            loaded = load_set(name, self._sets, app.settings.cache_dir)
            load_into_graph(app, loaded, collection_name(loaded))
            self._known[name] = gather(loaded, app.store, app.embedder, self._chosen)
        return self._known[name]

    def _others(self, name: str) -> list[str]:
        """Return sets that share no document with this one."""
        from eval.sets import COMPOSITE

        inside = {"composite", *COMPOSITE}
        return [
            one
            for one in self._names
            if one not in (name, "composite") and not (name == "composite" and one in inside)
        ]

    def _headings(self, material: "Material") -> "list[Example]":
        from graph.model import Filter
        from router.teach_headings import headings
        from router.training_data import instructive, search_examples

        app = self._app
        labelled = headings(app.store, material.collection, most=HEADINGS)
        where = Filter(material.collection)
        return instructive(
            search_examples(labelled, where, app.store, app.embedder, with_topics=False)
        )


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _named(names: str, known: tuple[str, ...]) -> list[str]:
    from graph.errors import UsageError

    found = _split(names)
    for name in found:
        if name not in known:
            raise UsageError(f"There is no part {name!r}. They are: {', '.join(known)}.")
    return found
