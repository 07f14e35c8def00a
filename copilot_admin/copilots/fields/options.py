"""The ways and switches among which a builder chooses, each with a sentence of help."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import CitationMode, DataMessagePolicy, WidgetDataMode
from copilot_admin.copilots.fields.draft_field import Option, Text
from copilot_admin.models import Access, Logging
from protocol.features import FEATURES

WIDGET_DATA = (
    Option(
        value=WidgetDataMode.ASK.value,
        label=_("When the model asks"),
        help=_(
            "The model decides which widgets it reads. Best for open conversations; needs a model "
            "that can call tools."
        ),
    ),
    Option(
        value=WidgetDataMode.FETCH.value,
        label=_("Always, before answering"),
        help=_(
            "Selected widgets are read before the model is asked. Surest when every answer is "
            "about them."
        ),
    ),
    Option(
        value=WidgetDataMode.OFF.value,
        label=_("Never"),
        help=_("Widgets are never read. The copilot answers from the prompt alone."),
    ),
)
CITATIONS = (
    Option(
        value=CitationMode.WIDGETS.value,
        label=_("Widgets"),
        help=_("The widgets whose data was used are listed under the answer."),
    ),
    Option(
        value=CitationMode.DOCUMENTS.value,
        label=_("Widgets and places in documents"),
        help=_("The same, and what is quoted of a PDF is marked on its page."),
    ),
    Option(value=CitationMode.OFF.value, label=_("None"), help=_("Nothing is cited.")),
)
ACCESS = (
    Option(
        value=Access.KEY.value,
        label=_("Callers with a key"),
        help=_("Only callers with an endpoint key may see and ask it."),
    ),
    Option(
        value=Access.OPEN.value,
        label=_("Everybody"),
        help=_("Everybody who can reach this server may ask it, without a key."),
    ),
)
LOGGING = (
    Option(
        value=Logging.EVERYTHING.value,
        label=_("Everything"),
        help=_("Whole conversations can be read and judged in Transcripts."),
    ),
    Option(
        value=Logging.METADATA.value,
        label=_("Metadata"),
        help=_("Times, tokens and outcomes are kept, but nothing that was said."),
    ),
    Option(
        value=Logging.NOTHING.value,
        label=_("Nothing"),
        help=_("Only that a question was answered is kept."),
    ),
)
FEATURE_SWITCHES = tuple(
    Option(value=feature.key, label=_(feature.label), help=_(feature.help), default=feature.default)
    for feature in FEATURES
)
_DATA_MESSAGES: Mapping[str, tuple[Text, Text]] = {
    "widgets": (_("Widgets"), _("The list of widgets, as one note of the kind “widgets”.")),
    "context": (_("Artifacts of the chat"), _("Pieces of one artifact become one note.")),
    "results": (_("Data of widgets"), _("Data of one widget becomes one note, not a repetition.")),
    "workspace": (_("The dashboard"), _("Its tabs and widgets, and the user's time zone.")),
    "options": (_("Options of the chat"), _("What the user chose in the settings of the chat.")),
    "merge": (_("Merge notes of one kind"), _("Off: the model sees every piece for itself.")),
}
DATA_MESSAGES = tuple(
    Option(value=name, label=label, help=help, default=getattr(DataMessagePolicy(), name))
    for name, (label, help) in _DATA_MESSAGES.items()
)
# Of what may be asked, under the keys of a copilot file.
LIMITS: Mapping[str, Text] = {
    "concurrent": _("Answers at once"),
    "requests_per_minute": _("Requests a minute"),
    "requests_per_day": _("Requests a day"),
    "requests_per_month": _("Requests a month"),
    "tokens_per_minute": _("Tokens a minute"),
    "tokens_per_day": _("Tokens a day"),
    "tokens_per_month": _("Tokens a month"),
    "usd_per_minute": _("Dollars a minute"),
    "usd_per_day": _("Dollars a day"),
    "usd_per_month": _("Dollars a month"),
}
