"""The settings, and the only reader of the environment.

A setting comes from the environment, else from a file `.env` in the current folder, else from the
default here. Unknown names that begin with MILEPOST_ are refused: a misspelt setting that is
silently ignored costs more time than a refusal.
"""

import os
from pathlib import Path
from typing import Literal

from dotenv import dotenv_values
from platformdirs import user_cache_path, user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from graph.errors import ConfigurationError

PREFIX = "MILEPOST_"


def _either(name: str) -> AliasChoices:
    return AliasChoices(name, name.upper())


class Settings(BaseSettings):
    """What a person may set; see `.env.example`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="ignore"
    )

    neo4j_uri: str | None = Field(None, validation_alias=_either("neo4j_uri"))
    """An existing server; unset, Milepost uses Docker where an engine answers, else its own."""
    neo4j_username: str = Field("neo4j", validation_alias=_either("neo4j_username"))
    neo4j_password: SecretStr | None = Field(None, validation_alias=_either("neo4j_password"))
    neo4j_database: str = Field("neo4j", validation_alias=_either("neo4j_database"))

    server: Literal["auto", "docker", "local"] = "auto"
    """Which server to start when NEO4J_URI is unset."""
    bolt_port: int = Field(7687, ge=1, le=65535)
    """First port tried for Bolt; another is taken when it is in use."""
    http_port: int = Field(7474, ge=1, le=65535)
    """First port tried for Neo4j's HTTP interface."""
    image: str | None = None
    """Docker image of Neo4j; unset, the one that docker/build.sh made, else the official one."""
    java_home: Path | None = None
    """Java for the local server; unset, a JDK with vector instructions if there is one, else the
    one that comes with Milepost."""
    data_dir: Path = Field(default_factory=lambda: user_data_path("milepost"))
    """The local server's data."""
    cache_dir: Path = Field(default_factory=lambda: user_cache_path("milepost"))
    """What can be made again: jars, exported models, vectors."""

    ray_address: str | None = Field(None, validation_alias=_either("ray_address"))
    """The Ray cluster of `milepost ingest --engine ray`; unset, this machine alone."""

    embedder: str = "all-MiniLM-L6-v2"
    """A sentence-transformers model, by name or folder; the default comes with the package."""
    late_interaction_model: str | None = None
    """Model of the system late_interaction; unset, the embedder's own token vectors."""
    sparse_model: str | None = None
    """A SPLADE model, for the system splade."""
    cross_encoder_model: str | None = None
    """A cross-encoder with one output, for the system cross_encoder."""
    system: str = "guided"
    """The retrieval system used where none is named."""
    machine: str = "soft_scoped"
    """The state machine that answers where none is named: see `milepost ask --help`."""
    model: str = "extractive"
    """A chat model as `provider:name` (LangChain's init_chat_model); "extractive" needs none."""
    threads: SecretStr = SecretStr("sqlite")
    """Where conversations are kept: "sqlite" (a file in the data folder), "neo4j", or the address
    of a Postgres."""
    model_url: str | None = None
    """Address of an OpenAI-compatible server for the chat model."""
    model_api_key: SecretStr | None = None
    model_context: int = Field(8_000, ge=2_000)
    """Tokens that the chat model reads and writes together; machines with tools want more."""
    model_seconds: float = Field(60, gt=0)
    """Time limit for one call of the chat model; a model on a small machine takes minutes."""


def load() -> Settings:
    """Read the settings.

    Raises:
        ConfigurationError: A value is wrong, or a name that begins with MILEPOST_ is unknown.
    """
    _refuse_unknown_names()
    try:
        return Settings()  # pyright: ignore[reportCallIssue]  # aliases hide the defaults
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper()
        name = name if name.startswith("NEO4J_") else PREFIX + name.removeprefix(PREFIX)
        raise ConfigurationError(
            f"The setting {name} is wrong: {first['msg']} (given: {first['input']!r})."
        ) from error


def _refuse_unknown_names() -> None:
    names = (name for name in Settings.model_fields if not name.startswith(("neo4j_", "ray_")))
    known = {PREFIX + name.upper() for name in names}
    given = {name.upper() for name in (*os.environ, *dotenv_values(".env"))}
    unknown = sorted(name for name in given if name.startswith(PREFIX) and name not in known)
    if unknown:
        raise ConfigurationError(
            f"Unknown setting {unknown[0]}. The settings are {', '.join(sorted(known))}."
        )
