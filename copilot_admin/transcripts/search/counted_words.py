"""What a figure or an alert counted, in words."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.models import Criterion, Outcome
from copilot_admin.rendering.text import duration
from copilot_admin.transcripts.search.counted import Counted, read_counted
from copilot_admin.transcripts.search.periods import HOUR, Span

_PLAIN: Mapping[str, str | Promise] = {
    **{one.value: one.label for one in Outcome},
    "requests": gettext_lazy("requests"),
    "questions": gettext_lazy("questions"),
    "conversations": gettext_lazy("conversations that began"),
    "errors": gettext_lazy("requests that failed"),
    "priced": gettext_lazy("requests of known cost"),
    "unpriced": gettext_lazy("requests of unknown cost"),
    "up": gettext_lazy("thumbs up"),
    "down": gettext_lazy("thumbs down"),
    "complaints": gettext_lazy("thumbs down, by when they were given"),
    "good": gettext_lazy("verdict good"),
    "mixed": gettext_lazy("verdict mixed"),
    "bad": gettext_lazy("verdict bad"),
}


def counted_words(text: str) -> str:
    """Says what the filter *Counted* names; as it stands where that is nothing."""
    try:
        counted = read_counted(text)
        what = _what(counted)
    except ValueError:
        return text
    parts = [what, _span(counted.span)]
    if counted.version is not None:
        parts.append(_("version %(number)d") % {"number": counted.version})
    if counted.model is not None:
        parts.append(_("model %(name)s") % {"name": counted.model})
    return ", ".join(parts)


def _what(counted: Counted) -> str:
    match counted.what:
        case "error":
            return _("error %(kind)s") % {"kind": counted.detail}
        case "faults":
            return _("faults of the provider %(name)s") % {"name": counted.detail}
        case "slower" if (ms := int(counted.detail)) >= 0:
            return _("first token after more than %(time)s") % {"time": duration(ms)}
        case "slower":
            return _("requests in which a token came")
        case "label":
            name = Criterion.objects.filter(pk=int(counted.detail)).values_list("name", flat=True)
            return _("judged by %(name)s") % {"name": next(iter(name), counted.detail)}
    if counted.what not in _PLAIN:
        raise ValueError(counted.what)
    return str(_PLAIN[counted.what])


def _span(span: Span) -> str:
    if span.first.hour == span.end.hour == 0:
        first, last = span.first, span.end - timedelta(days=1)
        days = [date_format(day, "j M Y") for day in (first, last)]
        return " – ".join(dict.fromkeys(days))  # noqa: RUF001  # a dash
    last_hour = span.end - HOUR
    form = "j M Y H:00"
    first_hour = date_format(span.first, form)
    end = date_format(last_hour, "H:59" if last_hour.date() == span.first.date() else "j M Y H:59")
    return f"{first_hour} – {end} UTC"  # noqa: RUF001  # a dash
