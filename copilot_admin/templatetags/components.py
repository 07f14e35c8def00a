"""Components of the style sheet as tags; every template has them without `load`.

Their markup is in `templates/components`. Other keyword arguments are attributes of the element:
`hx_get=url` is written as `hx-get="…"`, and `hidden=True` as `hidden`.
"""

from typing import Any

from django import template
from django.forms.utils import flatatt
from django.template.loader import get_template
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_NOTE_ICONS = {"bad": "fail", "good": "ok", "warn": "alert"}


def _render(name: str, context: dict[str, Any]) -> SafeString:
    text = get_template(f"components/{name}.html").render(context)
    return mark_safe(text.strip())  # noqa: S308  # what a template has rendered


def _attributes(given: dict[str, Any], *classes: str) -> SafeString:
    """Write attributes; `classes` come before those of the tag."""
    names = {name.replace("_", "-"): value for name, value in given.items()}
    names["class"] = " ".join(filter(None, (*classes, given.get("class")))) or None
    return flatatt(names)


def _variants(block: str, style: str) -> list[str]:
    return [block, *(f"{block}--{name}" for name in style.split())]


def _pop_prefixed(options: dict[str, Any], prefix: str) -> dict[str, Any]:
    names = [name for name in options if name.startswith(prefix)]
    return {name.removeprefix(prefix): options.pop(name) for name in names}


def _pop_href(view: str, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return the URL of a view; `query` is its query string, and `query_id` a parameter of it."""
    parameters = _pop_prefixed(options, "query_")
    query = str(options.pop("query", "") or "").removeprefix("?") or urlencode(parameters)
    return reverse(view, args=args) + (f"?{query}" if query else "")


@register.simple_tag
def button(
    label: str, view: str = "", *args: Any, icon: str = "", style: str = "", **attributes: Any
) -> SafeString:
    """Draw a button, or a link to a view or `href` that looks like one.

    Args:
        label: Text. With the style "icon", it is the tooltip and the name for screen readers.
        view: URL name.
        *args: Arguments of the URL.
        icon: Symbol before the text.
        style: Variants of `.ca-btn`, such as "primary" or "quiet s"; "item" is one of a menu.
        **attributes: `about` is what the button is about, for screen readers only. `query` is the
            query string of the URL, and `query_id` a parameter of it.
    """
    if view:
        attributes["href"] = _pop_href(view, args, attributes)
    is_link = attributes.get("href") is not None
    if not is_link:
        attributes.setdefault("type", "submit")
    about = attributes.pop("about", "")
    if "icon" in style.split():
        attributes = {"aria-label": label, "title": label, **attributes}
        label = ""
    classes = ["ca-menu__item"] if style == "item" else _variants("ca-btn", style)
    return _render(
        "button",
        {
            "tag": "a" if is_link else "button",
            "attributes": _attributes(attributes, *classes),
            "icon": icon,
            "label": label,
            "about": about,
        },
    )


@register.simple_tag
def link(label: str, view: str, *args: Any, when: object = True, **attributes: Any) -> SafeString:
    """Draw a link to a view, or only its text if the user may not follow it."""
    href = _pop_href(view, args, attributes)
    written = _attributes({**attributes, "href": href}) if when else ""
    return _render("link", {"label": label, "attributes": written})


@register.simple_tag(takes_context=True)
def post_button(
    context: template.Context,
    label: str,
    view: str,
    *args: Any,
    fields: str = "",
    **options: Any,
) -> SafeString:
    """Draw a form that consists of a button.

    Args:
        context: Context of the page, for its CSRF token.
        label: Text of the button.
        view: URL name that the form is sent to.
        *args: Arguments of the URL.
        fields: Hidden fields.
        **options: See `button`; `form_id` is the id of the form, and so are other attributes.
    """
    attributes = {"action": reverse(view, args=args), **_pop_prefixed(options, "form_")}
    return _render(
        "post_button",
        {
            "csrf_token": context.get("csrf_token"),
            "attributes": _attributes(attributes),
            "fields": fields,
            "button": button(label, **options),
        },
    )


@register.simple_block_tag
def note(content: str, tone: str = "", *, icon: str | None = None, **attributes: Any) -> SafeString:
    """Draw a coloured sentence; tones are good, warn and bad, without one it is information."""
    if icon is None:
        icon = _NOTE_ICONS.get(tone, "info")
    classes = _variants("ca-note", tone)
    written = _attributes(attributes, *classes)
    return _render("note", {"content": content, "icon": icon, "attributes": written})


@register.simple_block_tag
def fold(content: str, label: str, *, open: object = False, **attributes: Any) -> SafeString:
    """Draw content that is hidden until its label is pressed, unless it is open."""
    written = _attributes({**attributes, "open": bool(open)}, "ca-fold")
    return _render("fold", {"content": content, "label": label, "attributes": written})


@register.simple_block_tag
def section(content: str, title: str, id: str, **attributes: Any) -> SafeString:
    """Draw a part of a page with a heading, which has the id."""
    written = _attributes(attributes, "ca-section")
    return _render(
        "section", {"content": content, "title": title, "heading": id, "attributes": written}
    )


@register.simple_block_tag
def card(content: str, title: str, id: str, **attributes: Any) -> SafeString:
    """Draw a card with a heading, which has the id."""
    written = _attributes(attributes, "ca-card")
    return _render(
        "card", {"content": content, "title": title, "heading": id, "attributes": written}
    )


@register.simple_block_tag
def empty_state(
    content: str, icon: str, title: str = "", text: str = "", *, level: int = 2, **attributes: Any
) -> SafeString:
    """Draw the place of rows that do not exist yet; the content is what to do about it."""
    return _render(
        "empty_state",
        {
            "content": content,
            "icon": icon,
            "title": title,
            "text": text,
            "level": level,
            "attributes": _attributes(attributes, "ca-empty"),
        },
    )


@register.simple_block_tag
def menu(
    content: str, label: str, *, icon: str = "dots", style: str = "quiet icon", **attributes: Any
) -> SafeString:
    """Draw a menu behind a button."""
    is_icon = "icon" in style.split()
    words = {"aria-label": label, "title": label} if is_icon else {}
    summary = _render(
        "button",
        {
            "tag": "summary",
            "attributes": _attributes(words, *_variants("ca-btn", style)),
            "icon": icon,
            "label": "" if is_icon else label,
        },
    )
    written = _attributes(attributes, "ca-menu")
    return _render("menu", {"content": content, "summary": summary, "attributes": written})


@register.simple_tag
def column(label: str, style: str = "", **attributes: Any) -> SafeString:
    """Draw the head of a table column.

    Styles: "num" for numbers, "grow" for the column with the free width, "medium" and "wide" for
    those that narrow lists leave out, "sr" for a name that only screen readers need.
    """
    if style in ("medium", "wide"):
        attributes["data_column"] = style
    classes = {"num": "ca-num", "grow": "ca-table__grow"}.get(style, "")
    return _render(
        "column",
        {
            "label": label,
            "is_hidden": style == "sr",
            "attributes": _attributes(attributes, classes),
        },
    )


@register.simple_block_tag
def field(content: str, id: str, label: str, help: str = "") -> SafeString:
    """Draw a label above an input that has the id, and help below; fields of forms are drawn so too."""
    return _render("field", {"content": content, "id": id, "label": label, "help": help})


@register.simple_tag
def module(name: str) -> SafeString:
    """Load a script of the project."""
    return _render("module", {"file": f"copilot_admin/js/{name}.js"})


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
    return _render(
        "table",
        {
            "content": content,
            "label": label,
            "labelledby": labelledby,
            "is_card": is_card,
            "attributes": _attributes(attributes, "ca-table"),
        },
    )
