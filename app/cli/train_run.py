"""What `milepost train` trains, keeps and draws."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.errors import UsageError
from graph.ports import Topics
from router.scorer_file import Stamp, save

if TYPE_CHECKING:
    from router.compass import CompassConfig
    from router.training_data import Progress
    from router.training_lists import Lists
    from router.training_loop import Trained, TrainSettings

NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "compass": {},
    "bilinear": {"selection": "bilinear"},
    "own": {"guidance": "own"},
    "plain": {"guidance": "none"},
}
"""MCompassRAG's network as the paper has it, with a selector that asks the question, with the
question's own topics instead of a bank, and without topics."""


@dataclass(frozen=True, slots=True)
class Made:
    """A scorer that is trained, but not yet kept."""

    arrays: Mapping[str, Any]
    stamp: Stamp
    trained: "Trained"

    def save(self, path: Path) -> None:
        """Write it; see `router.scorer_file.save`."""
        save(self.arrays, self.stamp, path)

    def draw(self, path: Path) -> None:
        """Draw the loss and the held-out IE by epoch.

        Raises:
            UsageError: The picture cannot be written.
        """
        from matplotlib.figure import Figure

        epochs = self.trained.epochs
        figure = Figure(figsize=(10, 4), layout="constrained")
        losses, gain = figure.subplots(1, 2)
        steps = range(1, len(epochs) + 1)
        losses.plot(steps, [one.loss for one in epochs], label="trained on")
        losses.plot(steps, [one.held_out_loss for one in epochs], label="held out")
        gain.plot(steps, [one.held_out_ie for one in epochs], label="scorer")
        gain.axhline(self.trained.before, linestyle="--", color="grey", label="before")
        for axes, name in ((losses, "loss"), (gain, "IE@3 on documents held out")):
            axes.set_xlabel("epoch")
            axes.set_ylabel(name)
            axes.legend()
            axes.grid(alpha=0.3)
        try:
            figure.savefig(path, dpi=120)
        except (ValueError, OSError) as error:
            raise UsageError(
                f"The loss curve cannot be drawn to {path} ({error}). The scorer itself is kept; "
                "name a .png file with --plot."
            ) from error


def settings_of(network: str, given: Sequence[str], seed: int) -> "TrainSettings":
    """Return the settings for a network, changed as given.

    Raises:
        UsageError: A setting is unknown or its value is wrong.
    """
    from router.train_compass import COMPASS_SETTINGS
    from router.training_loop import TrainSettings

    settings = TrainSettings() if network == "blend" else COMPASS_SETTINGS
    known: dict[str, Any] = {
        one.name: type(getattr(settings, one.name)) for one in fields(settings)
    }
    changes: dict[str, Any] = {"seed": seed}
    for entry in given:
        name, _, value = entry.partition("=")
        if name not in known:
            raise UsageError(
                f"There is no setting {name!r}. They are {', '.join(known)}, such as -o epochs=60."
            )
        try:
            changes[name] = known[name](value)
        except ValueError as error:
            raise UsageError(f"The setting {name} needs a number, and got {value!r}.") from error
    changed = replace(settings, **changes)
    changed.check()
    return changed


def fit(
    network: str,
    lists: "Lists",
    topics: Topics | None,
    settings: "TrainSettings",
    embedder: str,
    progress: "Progress",
) -> Made:
    """Train, and return what is to be kept.

    Raises:
        UsageError: A network needs topics and there are none; or as the training.
        ModelError: The loss is not finite.
    """
    from router.evidence import FEATURES, WITHOUT_TOPICS
    from router.train_compass import bank_of, divided, train_blend, train_network

    mark, k = (topics.fingerprint, len(topics.centroids)) if topics else ("", 0)
    if network == "blend":
        blend, trained = train_blend(lists, settings, progress)
        names = FEATURES if topics else WITHOUT_TOPICS
        stamp = Stamp("blend", embedder, mark, k, names, {}, _summary(settings, trained))
        return Made(blend.arrays(), stamp, trained)
    from router.compass_scorer import arrays_of

    if topics is None:
        raise UsageError("This network needs topics. Run `milepost topics fit` first.")
    config = _config(network, topics)
    scorer, trained = train_network(lists, config, topics.centroids, settings, progress)
    bank = bank_of(lists, divided(lists.documents, settings)[0])
    stamp = Stamp("compass", embedder, mark, k, (), asdict(config), _summary(settings, trained))
    return Made(arrays_of(scorer, bank), stamp, trained)


def report_as_dict(trained: "Trained") -> dict[str, Any]:
    """Return what came of the training, for programs."""
    return asdict(trained)


def _config(network: str, topics: Topics) -> "CompassConfig":
    from router.compass import CompassConfig

    k, d = topics.centroids.shape
    heads = next(heads for heads in (4, 2, 1) if k % heads == 0)
    sizes: dict[str, Any] = {"topics": k, "dimensions": d, "heads": heads}
    return CompassConfig(**sizes, strongest=min(10, k), **NETWORKS[network])


def _summary(settings: "TrainSettings", trained: "Trained") -> dict[str, Any]:
    return {**asdict(settings), **report_as_dict(trained)}
