"""Ends a chat model's reply in the middle when nobody waits for it any more."""

from threading import Event
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from app.http.errors import ClientGone


class StopsChatModel(BaseCallbackHandler):
    """Raises at the next token once the event is set."""

    raise_error = True
    run_inline = True

    def __init__(self, stop: Event) -> None:
        """Name the event."""
        self._stop = stop

    def on_llm_new_token(self, token: object, **kwargs: Any) -> None:
        """Look at the event.

        Raises:
            ClientGone: It is set.
        """
        if self._stop.is_set():
            raise ClientGone
