"""Tells whether a model's folder holds the head that a use needs.

The transformers library fills a missing head with random numbers and only warns: a reranker would
then order passages by chance.
"""

import json
from pathlib import Path
from typing import Any

from graph.errors import ConfigurationError


def require_head(folder: Path, head: str, setting: str) -> None:
    """Refuse a folder whose model was not saved with this head.

    Args:
        folder: With `config.json`.
        head: Such as "ForSequenceClassification".
        setting: The environment variable that named the model.

    Raises:
        ConfigurationError: It was not, or there is no model.
    """
    config = folder / "config.json"
    try:
        found: Any = json.loads(config.read_text("utf-8")).get("architectures") or []
        architectures = [str(name) for name in found]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ConfigurationError(
            f"The folder {folder} holds no model ({error}). Give another with {setting}."
        ) from error
    if not any(name.endswith(head) for name in architectures):
        raise ConfigurationError(
            f"The model in {folder} is {', '.join(architectures) or 'of no known kind'}; "
            f"{setting} needs one that was trained as …{head}."
        )


def silence() -> None:
    """Keep the libraries from drawing progress bars while weights are read."""
    from transformers.utils import logging

    logging.disable_progress_bar()
