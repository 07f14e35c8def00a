"""Buttons, links and forms as tags; every template has them without `load`."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from copilot_admin.templatetags.components import render, variants, write_attributes

register = template.Library()


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
    classes = ["ca-menu__item"] if style == "item" else variants("ca-btn", style)
    return render(
        "button",
        {
            "tag": "a" if is_link else "button",
            "attributes": write_attributes(attributes, *classes),
            "icon": icon,
            "label": label,
            "about": about,
        },
    )


@register.simple_tag
def link(label: str, view: str, *args: Any, when: object = True, **attributes: Any) -> SafeString:
    """Draw a link to a view, or only its text if the user may not follow it."""
    href = _pop_href(view, args, attributes)
    written = write_attributes({**attributes, "href": href}) if when else ""
    return render("link", {"label": label, "attributes": written})


@register.simple_block_tag(takes_context=True)
def form(
    context: template.Context,
    content: str,
    view: str = "",
    *args: Any,
    fields: str = "",
    is_swapped: bool = False,
    **attributes: Any,
) -> SafeString:
    """Draw a form that is posted to a view, or to the page itself.

    Args:
        context: Context of the page, for its CSRF token.
        content: Fields and buttons.
        view: URL name.
        *args: Arguments of the URL.
        fields: Hidden fields.
        is_swapped: htmx posts it too, and swaps a part of the page.
        **attributes: See `button`.
    """
    if view:
        attributes["action"] = _pop_href(view, args, attributes)
    if is_swapped:
        attributes["hx-post"] = attributes["action"]
    return render(
        "form",
        {
            "csrf_token": context.get("csrf_token"),
            "attributes": write_attributes(attributes),
            "fields": fields,
            "content": content,
        },
    )


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
    attributes = _pop_prefixed(options, "form_")
    return form(context, button(label, **options), view, *args, fields=fields, **attributes)
