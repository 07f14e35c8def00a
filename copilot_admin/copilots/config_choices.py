"""Values of choices and switches of a copilot, with their labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import CitationMode, DataMessagePolicy, WidgetDataMode
from copilot_admin.models import Access, Logging
from protocol.features import FEATURES

Text: TypeAlias = str | Promise


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a choice, or a switch; `default` is that of a switch."""

    value: str
    label: Text
    help: Text = ""
    default: bool = False


WIDGET_DATA = (
    Option(WidgetDataMode.ASK.value, _("When the model asks")),
    Option(WidgetDataMode.FETCH.value, _("Always, before answering")),
    Option(WidgetDataMode.OFF.value, _("Never")),
)
CITATIONS = (
    Option(CitationMode.WIDGETS.value, _("Widgets")),
    Option(CitationMode.DOCUMENTS.value, _("Widgets and document passages")),
    Option(CitationMode.OFF.value, _("None")),
)
ACCESS = (
    Option(Access.KEY.value, _("API key required"), _("Only callers with an API key can use it.")),
    Option(
        Access.OPEN.value,
        _("Anyone on this network"),
        _("Anyone who can reach this server can use it without a key."),
    ),
)
LOGGING = (
    Option(
        Logging.EVERYTHING.value,
        _("Full conversations"),
        _("Reviewers can read the conversations."),
    ),
    Option(
        Logging.METADATA.value,
        _("Metadata only"),
        _("Times, tokens and outcomes, no content."),
    ),
    Option(Logging.NOTHING.value, _("Off"), _("Only the number of answers is recorded.")),
)
FEATURE_SWITCHES = tuple(
    Option(feature.key, _(feature.label), default=feature.default) for feature in FEATURES
)
_DATA_MESSAGES: Mapping[str, tuple[Text, Text]] = {
    "widgets": (_("Widgets"), _("The list of widgets, as one entry of the kind “widgets”.")),
    "context": (_("Artifacts of the chat"), _("The parts of an artifact become one entry.")),
    "results": (_("Widget data"), _("Data of one widget becomes one entry.")),
    "workspace": (_("Dashboard"), _("Its tabs and widgets, and the user's time zone.")),
    "options": (_("Chat options"), _("The user's choices in the chat settings.")),
    "merge": (_("Merge entries of one kind"), _("When off, the model sees every entry.")),
}
DATA_MESSAGES = tuple(
    Option(value=name, label=label, help=help, default=getattr(DataMessagePolicy(), name))
    for name, (label, help) in _DATA_MESSAGES.items()
)
# Usage limits, by their keys in a copilot file.
LIMITS: Mapping[str, Text] = {
    "concurrent": _("Concurrent answers"),
    "requests_per_minute": _("Requests per minute"),
    "requests_per_day": _("Requests per day"),
    "requests_per_month": _("Requests per month"),
    "tokens_per_minute": _("Tokens per minute"),
    "tokens_per_day": _("Tokens per day"),
    "tokens_per_month": _("Tokens per month"),
    "usd_per_minute": _("US dollars per minute"),
    "usd_per_day": _("US dollars per day"),
    "usd_per_month": _("US dollars per month"),
}
