"""Cleans HTML that a model writes, to what Workspace renders and to what loads nothing by itself.

A page that loads an image tells its server what the address says, and a model writes addresses as
the data that it reads asks it to. So an image is in the HTML itself or comes from where the builder
of the copilot allows it.
"""

from collections.abc import Collection
from functools import partial
import re

import nh3

from copilot_admin.agent.tools.inline_styles import harmless_style
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from protocol.plain_text import html_text

LONGEST = 200_000  # characters
# Source: Workspace cleans with DOMPurify: no scripts, frames, forms or handlers; inline styles
# stay. So do classes, which mean what the page around says: `fixed inset-0` covers it.
_TAGS = frozenset(nh3.ALLOWED_TAGS) | {"section", "article", "header", "footer", "main"}
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"style", "title", "lang", "dir", "role"},
    "td": {"colspan", "rowspan", "headers", "align"},
    "th": {"colspan", "rowspan", "headers", "align", "scope"},
}
# Source: the HTML standard, "reconstruct the active formatting elements": what of these is left open
# is opened again in every later paragraph, at most three times where the attributes are the same.
_FORMATTING = re.compile(
    r"<(?:big|code|em|font|nobr|small|strike|strong|tt|[bisu])(?=[\s/>])"
    r"(?P<plain>(?:\s++[\w:-]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?+)*+\s*+/?>)?",
    re.IGNORECASE,
)
# Measured: 640,000 elements that the cleaner adds take 170 MB and 0.4 seconds.
_MOST_COPIES = 200_000
# What may stand in itself; for each element the cleaner looks through all that are still open.
_NESTING = re.compile(
    r"<(?!(?:br|col|dd|dt|hr|img|li|option|p|tbody|td|tfoot|th|thead|tr)[\s/>])[a-z]", re.IGNORECASE
)
# Measured: the worst 200,000 characters found with so many take 1 second, without a limit 8.
_MOST_NESTING = 5_000
_TOO_COSTLY = (
    "The HTML has too many elements, or too many different inline ones such as <b> and <small>. "
    "Use fewer elements, close each one where it ends, and style whole blocks."
)
_EMPTY = (
    "Nothing of the HTML can be shown: scripts, styles, frames, forms and images from elsewhere are "
    "taken out."
)
# Margins, shadows and boxes larger than what they lie in reach over what is beside them: a box
# around all that has styles cuts them off, and scrolls to what is too wide.
_BOX = '<div style="height:100%;overflow:auto">'
_STYLED = ' style="'  # as the cleaner writes it; a text that says so gets a box for nothing
_LINKS = ("href", "cite")
_IMAGE_IN_ITSELF = "data:image/"


def html_to_show(html: str, *, sources: Collection[str]) -> str:
    """HTML as it may be shown; what has styles stays within a box of its own.

    Args:
        html: As the model wrote it.
        sources: Origins from which images may be loaded, such as "https://charts.example.com".

    Raises:
        ToolMistake: Nothing of it can be shown, or cleaning it would take too long.
    """
    if is_too_costly(html):
        raise ToolMistake(_TOO_COSTLY)
    clean = cleaned(html, sources=sources)
    if not html_text(clean).strip() and ' src="' not in clean:
        raise ToolMistake(_EMPTY)
    return f"{_BOX}{clean}</div>" if _STYLED in clean else clean


def is_too_costly(html: str) -> bool:
    return len(_NESTING.findall(html)) > _MOST_NESTING or _copies(html) > _MOST_COPIES


def cleaned(html: str, *, sources: Collection[str] = ()) -> str:
    """The HTML with nothing in it that runs, loads, asks for input or styles the page around it."""
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=partial(_attribute, sources),
        url_schemes={"https", "http", "mailto", "data"},
    )


def _copies(html: str) -> int:
    """How many elements the cleaner may have to add at most, if none of the inline ones is closed.

    Tags that are written alike count once; one that is written oddly counts for itself.
    """
    tags = _FORMATTING.finditer(html)
    different = {tag[0] if tag["plain"] else str(tag.start()) for tag in tags}
    return len(different) * html.count("<")


def _attribute(sources: Collection[str], tag: str, name: str, value: str) -> str | None:
    if name == "style":
        return harmless_style(value)
    if tag == "img" and name == "src":
        return value if _may_load(value, sources) else None
    return value if name not in _LINKS or _may_lead(value) else None


def _may_lead(address: str) -> bool:
    plain = "".join(letter for letter in address if letter > " ")
    return not plain.lower().startswith("data:")


def _may_load(address: str, sources: Collection[str]) -> bool:
    """Whether an image may stand at an address.

    What begins exactly with an origin and a slash is of this origin, whatever follows.
    """
    small = address.strip().lower()
    return small.startswith((_IMAGE_IN_ITSELF, *(f"{source}/" for source in sources)))
