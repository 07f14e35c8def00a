"""Small pieces of HTML for lists and templates: icons, chips and times."""

from datetime import date, datetime

from django.templatetags.static import static
from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString


def icon(name: str, label: str = "", classes: str = "") -> SafeString:
    """Return a symbol of `img/icons.svg`; without a label, screen readers skip it."""
    url = f"{static('copilot_admin/img/icons.svg')}#i-{name}"
    classes = f"ca-icon {classes}".strip()
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><title>{}</title><use href="{}"/></svg>',
            classes, label, label, url,
        )  # fmt: skip
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"/></svg>', classes, url)


def chip(label: str | Promise, tone: str = "") -> SafeString:
    """Return a state; tones are good, warn, bad, info and accent."""
    return format_html(
        '<span class="ca-chip ca-chip--dot{}">{}</span>', f" ca-chip--{tone}" if tone else "", label
    )


def format_time(value: datetime | date | None, style: str = "") -> SafeString | str:
    """Return a `<time>` in the reader's time zone; "" if there is no value.

    Styles: "short" for lists (the time today, the day otherwise), "date" for the day alone.
    """
    if value is None:
        return ""
    if not isinstance(value, datetime):
        day = formats.date_format(value, "j M Y")
        return format_html('<time datetime="{}">{}</time>', value.isoformat(), day)
    local = timezone.localtime(value)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(timespec="seconds"),
        f"{formats.date_format(local, 'j M Y H:i:s')} {local:%Z}",
        formats.date_format(local, _time_format(local, style)),
    )


def _time_format(local: datetime, style: str) -> str:
    if style == "date":
        return "j M Y"
    if style != "short":
        return "j M Y H:i"
    now = timezone.localtime()
    if local.date() == now.date():
        return "H:i"
    return "j M" if local.year == now.year else "j M Y"
