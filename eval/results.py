"""The results of an experiment as a file: written once, checked whenever it is read."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.errors import UsageError

Number = Annotated[float, Field(allow_inf_nan=False)]
QuestionScores = Mapping[str, Number]
"""By measure."""
Setting = str | int | float | bool | None

TOTAL = "total"
WITHOUT_EMBEDDING = "total without embed"
"""Stages that a system does not name itself."""


class Timing(BaseModel):
    """Milliseconds of one stage, over the questions."""

    model_config = ConfigDict(frozen=True)

    mean: Number
    p50: Number
    p95: Number


class SystemResult(BaseModel):
    """One system's scores and times."""

    model_config = ConfigDict(frozen=True)

    scores: Mapping[str, QuestionScores]
    """By key of the question; kept so that systems can be compared question by question."""
    timings_ms: Mapping[str, Timing]
    """By stage, and in all."""


class Results(BaseModel):
    """What `milepost eval run` found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    set: str
    part: str
    questions: int
    """Asked for; those that could not be scored included."""
    without_gold: int
    not_held: int
    """Questions of whose gold no chunk is in the graph."""
    chunks: int
    """In the collection."""
    started_at: str
    seconds: Number
    seed: int
    commit: str
    settings: Mapping[str, Setting]
    machine: Mapping[str, Setting]
    packages: Mapping[str, str]
    systems: Mapping[str, SystemResult]
    ceiling: Mapping[str, QuestionScores]
    """By key of the question: all gold first."""


def write_results(results: Results, path: Path) -> None:
    """Write the results, whole or not at all.

    Raises:
        UsageError: The file cannot be written.
    """
    text = json.dumps(results.model_dump(mode="json"), allow_nan=False, ensure_ascii=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, work = tempfile.mkstemp(dir=path.parent, prefix=".results-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(work).replace(path)
    except OSError as error:
        raise UsageError(
            f"The results cannot be written to {path} ({error.strerror}). Name another with --out."
        ) from error


def read_results(path: Path) -> Results:
    """Read results.

    Raises:
        UsageError: There is no such file, or it holds no results.
    """
    try:
        return Results.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}). Give a file of milepost eval run."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{path} holds no results ({where}: {first['msg']}). Give a file that "
            "milepost eval run wrote."
        ) from error
