"""The engine on a Ray cluster: the graph is the one that this machine alone would make."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graph.errors import ConfigurationError
from graph.model import IngestedDocument, IngestRun
from ingestion.pipeline import Engine, IngestOptions, ingest
from ingestion.ray_engine import read_on_ray
from ingestion.read_ahead import read_ahead
from tests.fakes import HashingEmbedder, MemoryStore
from tests.ingesting import Watcher

ROOT = Path(__file__).parents[2]
FILES = 24


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(FILES):
        sections = "".join(
            f"## {k} Part {k}\n\nDocument {n} says of part {k} that {'asphalt ' * 60}is hot.\n\n"
            for k in range(1, 20)
        )
        (tmp_path / f"document{n:02}.md").write_text(f"# Document {n}\n\n{sections}", "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "same.md").write_bytes((tmp_path / "document00.md").read_bytes())
    return tmp_path


def run(folder: Path, store: MemoryStore, engine: Engine) -> IngestRun:
    return ingest(
        [folder],
        store=store,
        embedder=HashingEmbedder(),
        cache=None,
        options=IngestOptions(batch_chunks=40, engine=engine),
        progress=Watcher(),
    )


def facts(store: MemoryStore) -> list[object]:
    """All of the graph but the time of ingestion."""
    return [
        (
            {**{name: getattr(item.document, name) for name in ("id", "uri", "copies", "scope")}},
            item.sections,
            item.chunks,
            item.vectors.tobytes(),
            item.minhash,
        )
        for _, item in sorted(store.items.items())
    ]


def fates(found: IngestRun) -> list[tuple[str, str, str]]:
    return [(outcome.uri, outcome.status, outcome.code) for outcome in found.outcomes]


class KillingStore(MemoryStore):
    """Takes a node away in the middle of the run."""

    def __init__(self, cluster: Any, node: Any) -> None:
        super().__init__()
        self._cluster, self._node = cluster, node
        self.killed_after = 0

    def write(self, items: Sequence[IngestedDocument]) -> None:
        super().write(items)
        if len(self.items) >= 4 and not self.killed_after:
            self.killed_after = len(self.items)
            self._cluster.remove_node(self._node, allow_graceful=False)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of one node, which is on this machine like those that a test adds."""
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'milepost[ray]'")
    from ray.cluster_utils import Cluster

    # Workers import the fakes, and tell nobody how Ray is used.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    node = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    yield cluster
    cluster.shutdown()


@pytest.mark.filterwarnings("ignore")  # of Ray's own
def test_a_node_that_dies_in_the_middle_changes_nothing_in_the_graph(
    folder: Path, cluster: Any
) -> None:
    node = cluster.add_node(num_cpus=2, object_store_memory=80_000_000)
    cluster.wait_for_nodes()
    alone, killing = MemoryStore(), KillingStore(cluster, node)
    expected = run(folder, alone, read_ahead)

    found = run(
        folder, killing, partial(read_on_ray, address=cluster.address, load=HashingEmbedder)
    )

    assert 4 <= killing.killed_after < FILES
    assert facts(killing) == facts(alone)
    assert fates(found) == fates(expected)


class OtherEmbedder(HashingEmbedder):
    fingerprint = "other"


@pytest.mark.filterwarnings("ignore")
def test_a_node_with_another_embedder_is_one_clear_error(folder: Path, cluster: Any) -> None:
    with pytest.raises(ConfigurationError, match="install the same version"):
        run(
            folder,
            MemoryStore(),
            partial(read_on_ray, address=cluster.address, load=OtherEmbedder),
        )


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_does_not_answer_is_one_clear_error(folder: Path) -> None:
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'milepost[ray]'")

    with pytest.raises(ConfigurationError, match="RAY_ADDRESS"):
        run(
            folder,
            MemoryStore(),
            partial(read_on_ray, address="127.0.0.1:9", load=HashingEmbedder),
        )


def test_without_ray_the_error_names_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)

    with pytest.raises(ConfigurationError, match=r"milepost\[ray\]"):
        run(folder, MemoryStore(), partial(read_on_ray, address=None, load=HashingEmbedder))
