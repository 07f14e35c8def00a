"""Components of the style sheet as tags; every template has them without `load`.

Their markup is in `templates/components`. Other keyword arguments are attributes of the element:
`hx_get=url` is written as `hx-get="…"`, and `hidden=True` as `hidden`. A `block` that children
extend with `block.super` has to stay outside of them.
"""

from typing import Any

from django import template
from django.forms.utils import flatatt
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_NOTE_ICONS = {"bad": "fail", "good": "ok", "warn": "alert"}


def render(name: str, context: dict[str, Any]) -> SafeString:
    """Draw a template of `templates/components`."""
    text = get_template(f"components/{name}.html").render(context)
    return mark_safe(text.strip())  # noqa: S308  # what a template has rendered


def write_attributes(given: dict[str, Any], *classes: str) -> SafeString:
    """Write attributes; `classes` come before those of the tag."""
    names = {name.replace("_", "-"): value for name, value in given.items()}
    names["class"] = " ".join(filter(None, (*classes, given.get("class")))) or None
    return flatatt(names)


def variants(block: str, style: str) -> list[str]:
    """Return the class of a component and those of its variants."""
    return [block, *(f"{block}--{name}" for name in style.split())]


@register.simple_block_tag
def note(content: str, tone: str = "", *, icon: str | None = None, **attributes: Any) -> SafeString:
    """Draw a coloured sentence; tones are good, warn and bad, without one it is information."""
    if icon is None:
        icon = _NOTE_ICONS.get(tone, "info")
    classes = variants("ca-note", tone)
    written = write_attributes(attributes, *classes)
    return render("note", {"content": content, "icon": icon, "attributes": written})


@register.simple_block_tag
def fold(content: str, label: str, *, open: object = False, **attributes: Any) -> SafeString:
    """Draw content that is hidden until its label is pressed, unless it is open."""
    written = write_attributes({**attributes, "open": bool(open)}, "ca-fold")
    return render("fold", {"content": content, "label": label, "attributes": written})


@register.simple_block_tag
def section(content: str, title: str, id: str, **attributes: Any) -> SafeString:
    """Draw a part of a page with a heading, which has the id."""
    written = write_attributes(attributes, "ca-section")
    return render(
        "section", {"content": content, "title": title, "heading": id, "attributes": written}
    )


@register.simple_block_tag
def card(content: str, title: str, id: str, **attributes: Any) -> SafeString:
    """Draw a card with a heading, which has the id."""
    written = write_attributes(attributes, "ca-card")
    return render(
        "card", {"content": content, "title": title, "heading": id, "attributes": written}
    )


@register.simple_block_tag
def empty_state(
    content: str, icon: str, title: str = "", text: str = "", *, level: int = 2, **attributes: Any
) -> SafeString:
    """Draw the place of rows that do not exist yet; the content is what to do about it."""
    return render(
        "empty_state",
        {
            "content": content,
            "icon": icon,
            "title": title,
            "text": text,
            "level": level,
            "attributes": write_attributes(attributes, "ca-empty"),
        },
    )


@register.simple_block_tag
def menu(
    content: str, label: str, *, icon: str = "dots", style: str = "quiet icon", **attributes: Any
) -> SafeString:
    """Draw a menu behind a button."""
    is_icon = "icon" in style.split()
    words = {"aria-label": label, "title": label} if is_icon else {}
    summary = render(
        "button",
        {
            "tag": "summary",
            "attributes": write_attributes(words, *variants("ca-btn", style)),
            "icon": icon,
            "label": "" if is_icon else label,
        },
    )
    written = write_attributes(attributes, "ca-menu")
    return render("menu", {"content": content, "summary": summary, "attributes": written})


@register.simple_tag
def column(label: str, style: str = "", **attributes: Any) -> SafeString:
    """Draw the head of a table column.

    Styles: "num" for numbers, "grow" for the column with the free width, "medium" and "wide" for
    those that narrow lists leave out, "sr" for a name that only screen readers need.
    """
    if style in ("medium", "wide"):
        attributes["data_column"] = style
    classes = {"num": "ca-num", "grow": "ca-table__grow"}.get(style, "")
    return render(
        "column",
        {
            "label": label,
            "is_hidden": style == "sr",
            "attributes": write_attributes(attributes, classes),
        },
    )


@register.simple_block_tag
def field(content: str, id: str, label: str, help: str = "") -> SafeString:
    """Draw a label above an input that has the id, and help below; fields of forms are drawn so too."""
    return render("field", {"content": content, "id": id, "label": label, "help": help})


@register.simple_tag
def module(name: str) -> SafeString:
    """Load a script of the project."""
    return render("module", {"file": f"copilot_admin/js/{name}.js"})


@register.simple_block_tag
def table(
    content: str,
    label: str = "",
    *,
    labelledby: str = "",
    is_card: bool = False,
    **attributes: Any,
) -> SafeString:
    """Draw a table that scrolls sideways; with a name, keyboards can scroll it too."""
    return render(
        "table",
        {
            "content": content,
            "label": label,
            "labelledby": labelledby,
            "is_card": is_card,
            "attributes": write_attributes(attributes, "ca-table"),
        },
    )
