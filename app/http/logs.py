"""Structured logs: one JSON object a line on standard error, without questions or document text."""

import logging
import sys
from typing import Any

import structlog

log: Any = structlog.get_logger("milepost.http")
"""What the request is, its id and its key's name, is bound by `app.http.request_log`."""


def configure() -> None:
    """Send our log, and what the libraries warn of, to standard error as JSON."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _without_traceback,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def _without_traceback(
    _logger: object, _method: str, entry: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    # The message of another's error may quote what was asked.
    entry.pop("exc_info", None)
    return entry
