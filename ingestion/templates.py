"""Clears Markdown of what site generators (Jekyll, kramdown, Hugo) put into it.

Their marks are not text, but some carry text: an alert's heading and content, a figure's caption.
That is kept. Source code in fences is left alone by whoever calls this.
"""

import re
from collections.abc import Mapping

_ATTRIBUTES = re.compile(r"\{:[^{}\n]*\}|[ \t]*\{#[\w-]+\}")
_LIQUID_TAG = re.compile(r"\{%-?\s*(.*?)-?%\}", re.DOTALL)
_HUGO_TAG = re.compile(r"\{\{[<%]\s*(.*?)[%>]\}\}", re.DOTALL)
_LINK_TARGET = re.compile(r"\]\(\s*(?:\{%.*?%\}|\{\{.*?\}\})")
_VARIABLE = re.compile(r"\{\{(?![<%])(.*?)\}\}", re.DOTALL)
_PAGE_FIELD = re.compile(r"\s*page\.([\w-]+)\s*")
_TEXT_ARGUMENT = re.compile(
    r"\b(?:heading|content|text|caption|title|label|alt|kicker|cite)\s*=\s*"
    r"(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')",
    re.DOTALL,
)
_MARKDOWN_WRAPPER = re.compile(r"<(\w+)\b[^>]*\smarkdown=[\"']?\w+[\"']?[^>]*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def clear_templates(markdown: str, fields: Mapping[str, str]) -> str:
    """Return Markdown without template marks.

    Args:
        markdown: Text outside of fenced code.
        fields: Front matter; `{{ page.version }}` is replaced by its value.
    """
    text = _LINK_TARGET.sub("](#", _COMMENT.sub("", markdown))
    text = _HUGO_TAG.sub(_arguments, text)
    text = _LIQUID_TAG.sub(_arguments, text)
    text = _VARIABLE.sub(lambda match: _value(match, fields), text)
    text = _ATTRIBUTES.sub("", text)
    # kramdown reads Markdown inside such an element, CommonMark only behind an empty line.
    return _MARKDOWN_WRAPPER.sub("\n\n", text)


def _arguments(tag: re.Match[str]) -> str:
    """Return the texts that a tag carries; tags of the template language itself carry none."""
    texts = [match[1] or match[2] or "" for match in _TEXT_ARGUMENT.finditer(tag[1])]
    spaced = [text.replace('\\"', '"').replace("\\'", "'").strip() for text in texts]
    if tag.string[max(0, tag.start() - 1) : tag.start()] == "[":  # the text of a link
        return " ".join(spaced)
    joined = "\n\n".join(text for text in spaced if text)
    return f"\n\n{joined}\n\n" if joined else ""


def _value(variable: re.Match[str], fields: Mapping[str, str]) -> str:
    field = _PAGE_FIELD.fullmatch(variable[1])
    return fields.get(field[1].lower(), "") if field else ""
