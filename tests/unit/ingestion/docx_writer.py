"""Writes small Word documents for tests, from the XML of their body."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/><w:pPr>'
    f'<w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
    for n in (1, 2, 3)
)
_NUMBERING = (
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>'
    '</w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="lowerLetter"/>'
    '<w:lvlText w:val="(%1)"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
)


def paragraph(text: str, style: str = "", list_id: int = 0, depth: int = 0) -> str:
    numbers = (
        f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>'
        if list_id
        else ""
    )
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{numbers}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(rows: list[list[str]]) -> str:
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def write_docx(body: str, namespace: str = W, others: dict[str, str] | None = None) -> bytes:
    """Return a Word document.

    Args:
        body: XML inside the body, prefix "w".
        namespace: Of the transitional or the strict form.
        others: Further parts by name.
    """
    parts = {
        "_rels/.rels": _RELATIONS,
        "word/document.xml": f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body>'
        "</w:document>",
        "word/styles.xml": f'<w:styles xmlns:w="{namespace}">{_STYLES}</w:styles>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{namespace}">{_NUMBERING}</w:numbering>',
        **(others or {}),
    }
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()
