"""Answers with a chat model: one call that reads all passages at once.

The dilution paper found that answers put together over several calls are less faithful, so there
is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agents.answer import ABSTENTION
from agents.chat import complete
from agents.context import Limits
from agents.passages import fit
from agents.prompts import ANSWER_QUESTION, ANSWER_SYSTEM
from agents.state import Draft
from graph.model import Hit

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def synthesize(question: str, hits: Sequence[Hit], chat: BaseChatModel, limits: Limits) -> Draft:
    """Return what the chat model answers; without hits it is not asked.

    Raises:
        UsageError: The question leaves no room for passages in the model's context.
        ModelError: The model failed.
    """
    from langchain_core.messages import HumanMessage, SystemMessage  # heavy

    if not hits:
        return Draft(text=ABSTENTION, extractive=False, shown=0, llm_calls=0, tokens=0)
    fitted = fit(hits, question, ANSWER_SYSTEM + ANSWER_QUESTION, limits)
    request = ANSWER_QUESTION.format(passages=fitted.text, question=question)
    reply = complete(chat, [SystemMessage(ANSWER_SYSTEM), HumanMessage(request)], limits)
    return Draft(
        text=reply.text, extractive=False, shown=fitted.shown, llm_calls=1, tokens=reply.tokens
    )
