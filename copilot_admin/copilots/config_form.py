"""Sections of the editor, kinds of inputs, and the choices that they offer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import CitationMode, DataMessagePolicy, WidgetDataMode
from copilot_admin.copilots.config_types import StoredRecord
from copilot_admin.models import Access, Logging
from protocol.features import FEATURES

Text: TypeAlias = str | Promise


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A part of the form. A folded one opens by itself where something is set or wrong."""

    title: Text
    description: Text = ""
    is_folded: bool = False


IDENTITY = Section(_("Identity"))
INSTRUCTIONS = Section(_("Instructions"))
MODEL = Section(_("Model"))
PARAMETERS = Section(
    _("Parameters and model picker"),
    _("Leave blank to use the provider's default."),
    is_folded=True,
)
FEATURES_SECTION = Section(_("Features"))
DATA_AND_TOOLS = Section(_("Data and tools"))
COMPONENTS = Section(
    _("Built-in tools"),
    _("Tools that run exact calculations for the model."),
    is_folded=True,
)
DATA_NOTES = Section(
    _("Context data"),
    _("Data that the model sees with every question."),
    is_folded=True,
)
QUESTION_LIMITS = Section(
    _("Limits per question"),
    _("Data and Workspace calls allowed per question."),
    is_folded=True,
)
STEPS_AND_STARTERS = Section(_("Steps and starter questions"))
ACCESS_AND_LOGGING = Section(
    _("Status, access and logging"),
    _("These settings apply immediately."),
)
SECTIONS = (
    IDENTITY,
    INSTRUCTIONS,
    MODEL,
    PARAMETERS,
    FEATURES_SECTION,
    DATA_AND_TOOLS,
    COMPONENTS,
    DATA_NOTES,
    QUESTION_LIMITS,
    STEPS_AND_STARTERS,
    ACCESS_AND_LOGGING,
)


class Input(StrEnum):
    """Inputs without settings of their own."""

    COLUMN = "column"  # Django's default for the column
    ADDRESS = "address"
    PARAGRAPH = "paragraph"
    PROMPT = "prompt"  # with its placeholders
    SUGGESTIONS = "suggestions"  # one line with a list of known values
    TOOLS = "tools"  # a switch for each tool
    COMPONENTS = "components"  # a switch for each component
    OWN = "own"  # several inputs, which the form defines


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One value of a choice, or one of several switches."""

    value: str
    label: Text
    help: Text
    default: bool = False  # of a switch


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few explained values."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Switches:
    """Things that are on or off; a draft stores those that differ from their default."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A list of records; the values of `unique` must differ."""

    record: type[StoredRecord]
    add_label: Text
    unique: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """A list of short texts; `noun` names one of them.

    Attributes:
        find_fault: Returns the message for an invalid text, or an empty one.
        differ: No two may be the same.
    """

    noun: Text
    label: Text
    add_label: Text
    max_length: int
    find_fault: Callable[[str], Text] | None = None
    differ: bool = False


Editor: TypeAlias = Input | Choice | Switches | Rows | Texts


def _option(value: str, label: Text, help: Text) -> Option:
    return Option(value=value, label=label, help=help)


WIDGET_DATA = Choice(
    (
        _option(
            WidgetDataMode.ASK.value,
            _("When the model asks"),
            _("The model decides which widgets to read. Requires a model with tool calling."),
        ),
        _option(
            WidgetDataMode.FETCH.value,
            _("Always, before answering"),
            _("Selected widgets are read first. Most reliable if every answer uses widget data."),
        ),
        _option(WidgetDataMode.OFF.value, _("Never"), _("The copilot doesn't read widgets.")),
    )
)
CITATIONS = Choice(
    (
        _option(
            CitationMode.WIDGETS.value,
            _("Widgets"),
            _("Lists the widgets used under the answer."),
        ),
        _option(
            CitationMode.DOCUMENTS.value,
            _("Widgets and document passages"),
            _("Also highlights quoted passages on the pages of PDF files."),
        ),
        _option(CitationMode.OFF.value, _("None"), _("Answers have no citations.")),
    )
)
ACCESS = Choice(
    (
        _option(
            Access.KEY.value,
            _("API key required"),
            _("Only callers with an API key can see and use the copilot."),
        ),
        _option(
            Access.OPEN.value,
            _("Anyone on this network"),
            _("Anyone who can reach this server can use the copilot without a key."),
        ),
    )
)
LOGGING = Choice(
    (
        _option(
            Logging.EVERYTHING.value,
            _("Full conversations"),
            _("Conversations can be read and reviewed."),
        ),
        _option(
            Logging.METADATA.value,
            _("Metadata only"),
            _("Times, tokens and outcomes are stored, without questions and answers."),
        ),
        _option(Logging.NOTHING.value, _("Off"), _("Only the number of questions is stored.")),
    )
)
FEATURE_SWITCHES = Switches(
    tuple(
        Option(
            value=feature.key,
            label=_(feature.label),
            help=_(feature.help),
            default=feature.default,
        )
        for feature in FEATURES
    )
)
_DATA_MESSAGES: Mapping[str, tuple[Text, Text]] = {
    "widgets": (_("Widgets"), _("The list of widgets, as one entry of the kind “widgets”.")),
    "context": (_("Artifacts of the chat"), _("The parts of an artifact become one entry.")),
    "results": (_("Widget data"), _("Data of one widget becomes one entry.")),
    "workspace": (_("Dashboard"), _("Its tabs and widgets, and the user's time zone.")),
    "options": (_("Chat options"), _("The user's choices in the chat settings.")),
    "merge": (_("Merge entries of one kind"), _("When off, the model sees every entry.")),
}
DATA_MESSAGES = Switches(
    tuple(
        Option(value=name, label=label, help=help, default=getattr(DataMessagePolicy(), name))
        for name, (label, help) in _DATA_MESSAGES.items()
    )
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
