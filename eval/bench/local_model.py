"""Do more calls of a small chat model help? `python -m eval.bench.local_model --url URL`.

Asks questions about the samples of machines with few calls and with many, with the chat model at an
OpenAI-compatible address (docs/local-model.md), and of `soft_scoped` without one; prints what
`eval.bench.answers` says of the answers. The questions are drawn at random, and each is asked of
all before the next one: when time runs out, what is done is a sample.

Starts a Neo4j of its own in the folder of `--work`. Answers are kept there, so that a run which
ends goes on where it was.
"""

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from pydantic import TypeAdapter

from agents import machines
from agents.answer import Answer
from agents.chat import load_chat_model
from agents.citations import check
from agents.context import Context, Limits
from agents.memory import RememberingEmbedder
from agents.passages import evidence
from agents.question import names_edition
from agents.state import ANSWER, Input
from eval import provenance
from eval.bench.answers import faithfulness, has_gold, is_correct
from eval.bench.foundation import Silent
from graph.model import Filter
from graph.ports import Embedder
from graph.server import local
from graph.server.options import ServerOptions
from graph.store import EmbedderInfo, GraphStore
from ingestion.embed import load_embedder
from ingestion.pipeline import IngestOptions, ingest
from ingestion.vector_cache import open_cache
from router import guided
from router.facts import Facts
from router.retrieve import System

SAMPLES = Path(__file__).parents[2] / "samples"
QUOTED = "soft_scoped, quoted"
MACHINES = ("soft_scoped", "single_call", "masdr")
CALL_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as one machine answered it."""

    id: str
    machine: str
    draft: str
    """As the model wrote it."""
    answer: Answer
    seconds: float


ASKED = TypeAdapter(Asked)


def main() -> None:
    """Ask, and print the table."""
    options = _arguments()
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    print(f"commit {provenance.commit()}; load average {os.getloadavg()[0]:.1f}; k = {options.k}")
    server = ServerOptions(
        data_dir=work, cache_dir=user_cache_path("milepost"), bolt_port=options.port
    )
    connection = local.start(server)
    try:
        with GraphStore(connection.uri, (connection.username, connection.password)) as store:
            embedder = RememberingEmbedder(_ingest(store))
            context = _context(store, embedder, options)
            asked = _ask_all(_questions(options), context, work / "answers.jsonl")
    finally:
        local.stop(server)
    print_tables(_questions(options), asked)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8081/v1", help="of the chat model")
    parser.add_argument("--model", default="openai:local", help="PROVIDER:NAME")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-k", type=int, default=3, help="passages of one search")
    parser.add_argument("--tokens", type=int, default=96, help="most of an answer")
    parser.add_argument("--context", type=int, default=5_000, help="tokens that the model reads")
    parser.add_argument("--work", default=str(user_cache_path("milepost") / "bench-local-model"))
    parser.add_argument("--port", type=int, default=17_807, help="first tried for Neo4j")
    return parser.parse_args()


def _questions(options: argparse.Namespace) -> list[dict[str, Any]]:
    lines = (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    random.Random(options.seed).shuffle(every)  # the first ones are the same for any number of them
    return every[: options.questions]


def _ingest(store: GraphStore) -> Embedder:
    embedder = load_embedder("all-MiniLM-L6-v2", user_cache_path("milepost"), print, bulk=True)
    store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
    with open_cache(user_cache_path("milepost"), embedder, print) as cache:
        ingest(
            [SAMPLES],
            store=store,
            embedder=embedder,
            cache=cache,
            options=IngestOptions(),
            progress=Silent(),
        )
    return embedder


def _context(store: GraphStore, embedder: Embedder, options: argparse.Namespace) -> Context:
    """Return what the machines work with: the default system, small limits."""
    facts = Facts(store, embedder.fingerprint)
    understand = partial(guided.understood, embedder=embedder, holdings=facts.holdings)
    limits = Limits(
        context_tokens=options.context,
        answer_tokens=options.tokens,
        attempts=1,
        run_seconds=4 * CALL_SECONDS,
    )
    chat = load_chat_model(
        options.model,
        limits=limits,
        timeout_seconds=CALL_SECONDS,
        base_url=options.url,
        api_key="none",
    )
    return Context(
        System("guided", understand, partial(guided.guided, store=store)),
        embedder,
        chat,
        Filter(),
        options.k,
        limits,
        store,
    )


def _ask_all(
    questions: Sequence[Mapping[str, Any]], context: Context, file: Path
) -> dict[tuple[str, str], Asked]:
    done = _read(file)
    names = (QUOTED, *MACHINES)
    missing = [(q, name) for q in questions for name in names if (q["id"], name) not in done]
    started = time.perf_counter()
    for n, (question, name) in enumerate(missing, start=1):
        chat = None if name == QUOTED else context.chat
        where = Filter(current_only=not names_edition(question["question"]))
        asked = _ask(name, question, replace(context, chat=chat, filter=where))
        done[asked.id, name] = asked
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(ASKED.dump_python(asked, mode="json")) + "\n")
        left = (time.perf_counter() - started) / n * (len(missing) - n)
        print(f"{n}/{len(missing)} {name}, {asked.seconds:.0f} s, {left / 60:.0f} min left")
    return done


def _read(file: Path) -> dict[tuple[str, str], Asked]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    kept = [ASKED.validate_json(line) for line in lines]
    return {(asked.id, asked.machine): asked for asked in kept}


def _ask(name: str, question: Mapping[str, Any], context: Context) -> Asked:
    machine = machines.build("soft_scoped" if name == QUOTED else name)
    started = time.perf_counter()
    state: dict[str, Any] = {}
    asked = Input(question=str(question["question"]))
    for update in machine.stream(asked, context=context, stream_mode="updates"):
        for added in update.values():
            state |= added
    seconds = time.perf_counter() - started
    answer = ANSWER.validate_python(state["answer"])
    return Asked(question["id"], name, state["draft"]["text"], answer, seconds)


def print_tables(
    questions: Sequence[Mapping[str, Any]], asked: Mapping[tuple[str, str], Asked]
) -> None:
    """Print a row for each machine, over the questions that all have answered."""
    names = (QUOTED, *MACHINES)
    done = [q for q in questions if all((q["id"], name) in asked for name in names)]
    print(f"\nn = {len(done)}, of them {sum(not q['gold'] for q in done)} without gold\n")
    print(
        "| | correct | gold among sources | answered | faithful sentences | unsupported figures "
        "| calls | tokens | seconds, p50 |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        _print_row(name, done, [asked[q["id"], name] for q in done])
    for name in MACHINES:
        rows = [_as_written(asked[q["id"], name]) for q in done]
        _print_row(f"{name}, citations as written", done, rows)


def _as_written(asked: Asked) -> Asked:
    """Return the answer as it is without `agents.attribution`."""
    shown = [source.passage for source in asked.answer.sources]
    checked = check(asked.draft, [evidence(passage) for passage in shown])
    sources = tuple(replace(s, cited=s.n in checked.cited) for s in asked.answer.sources)
    answer = replace(
        asked.answer,
        text=checked.text,
        sources=sources,
        checks=checked.checks,
        supported=checked.supported,
    )
    return replace(asked, answer=answer)


def _print_row(name: str, questions: Sequence[Mapping[str, Any]], asked: Sequence[Asked]) -> None:
    gold = {q["id"]: [one["text"] for one in q["gold"]] for q in questions}
    text = {q["id"]: str(q["question"]) for q in questions}
    correct = sum(is_correct(one.answer, text[one.id], gold[one.id]) for one in asked)
    found = sum(has_gold(one.answer.sources, gold[one.id]) for one in asked)
    counts = [asdict(faithfulness(one.answer)) for one in asked]
    all_ = {key: sum(count[key] for count in counts) for key in counts[0]} if counts else {}
    cells = [
        f"{correct}/{len(asked)}",
        f"{found}/{sum(bool(texts) for texts in gold.values())}",
        f"{sum(one.answer.supported for one in asked)}",
        f"{all_.get('faithful', 0)}/{all_.get('sentences', 0)}",
        f"{all_.get('unsupported', 0)}/{all_.get('figures', 0)}",
        f"{sum(one.answer.usage.llm_calls for one in asked)}",
        f"{sum(one.answer.usage.tokens for one in asked):,}",
        f"{statistics.median([one.seconds for one in asked] or [0]):.0f}",
    ]
    print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
