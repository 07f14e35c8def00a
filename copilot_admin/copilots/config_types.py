"""Value types of a copilot's configuration, with their limits, labels and messages."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from django.core.validators import RegexValidator
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model
from pydantic_core import PydanticCustomError

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.agent.values.spec import CitationMode, WidgetDataMode
from copilot_admin.models import Access, Logging
from copilot_admin.models.copilots import SLUG
from copilot_admin.models.usage import MAX_LIMIT, MAX_LIMIT_DOLLARS
from copilot_admin.redaction.kinds import DataKind
from protocol.features import FEATURES

Text: TypeAlias = str | Promise
IMAGE_DATA_START = "data:image/"
MAX_TAGS = 20
MAX_TAG_LENGTH = 40  # characters: what a column of the list shows whole
MAX_PROMPT_LENGTH = 1_000_000  # characters
MAX_URL_LENGTH = 2000
MAX_DESCRIPTION_LENGTH = 10_000  # a card shows some 250
# Embeddings, overrides and isolates. Source: Unicode Standard Annex 9, table 4. The marks (U+200E,
# U+200F, U+061C) only help a neighbour, and are written in Arabic and Hebrew.
BIDI_CONTROLS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))

PARAMETER_NAME = RegexValidator(
    r"^[A-Za-z][A-Za-z0-9_]*\Z",
    _("Use letters, digits and underscores, for example frequency_penalty."),
)


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
        Logging.METADATA.value, _("Metadata only"), _("Times, tokens and outcomes, no content.")
    ),
    Option(Logging.NOTHING.value, _("Off"), _("Only the number of answers is recorded.")),
)
FEATURE_SWITCHES = tuple(Option(one.key, _(one.label), default=one.default) for one in FEATURES)


class Shape(BaseModel):
    """A record without unknown keys whose values are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class StoredRecord(Shape):
    """A record that a draft stores in another form than a file has it."""

    def row(self) -> dict[str, Any]:
        """Return the record as a draft stores it."""
        return self.model_dump()


def to_stored(value: Any) -> Any:
    """Return the form in which a draft stores a value of a file."""
    match value:
        case StoredRecord():
            return value.row()
        case list():
            return [to_stored(each) for each in value]
        case _:
            return value


def labelled(default: Any, label: Text, help: Text = "", *metadata: object) -> Any:
    """Return a field of a record with label and help, which are translated when shown."""
    info: Any = Field(default, title=cast("str", label), description=cast("str", help))
    info.metadata.extend(metadata)
    return info


def fault(sentence: Text, code: str = "invalid") -> PydanticCustomError:
    return PydanticCustomError(cast("Any", code), "{sentence}", {"sentence": str(sentence)})


def refuse_repeated(values: list[str], *, what: Text) -> None:
    counts = Counter(values)
    if len(counts) < len(values):
        value = next(value for value in counts if counts[value] > 1)
        sentence = gettext("the %(what)s '%(value)s' occurs twice. Remove one.")
        raise fault(sentence % {"what": what, "value": value}, "repeated")


def remove_bidi_controls(text: str) -> str:
    return "".join(sign for sign in text if sign not in BIDI_CONTROLS)


# These functions return the message for an invalid text, or an empty one.


def bidi_fault(text: str) -> str:
    found = next((f"{ord(sign):04X}" for sign in text if sign in BIDI_CONTROLS), "")
    sentence = gettext(
        "contains the invisible character U+%(code)s, which changes text direction. Remove it."
    )
    return sentence % {"code": found} if found else ""


def html_source_fault(source: str) -> str:
    host, colon, port = source.removeprefix("https://").partition(":")
    labels = [label.replace("-", "") for label in host.split(".")]
    is_host = host == host.lower() and all(one.isascii() and one.isalnum() for one in labels)
    is_port = not colon or (port.isascii() and port.isdecimal() and 0 < int(port) < 65536)
    if source.startswith("https://") and is_host and is_port:
        return ""
    return gettext(
        "must be https:// and a lower-case host, for example https://charts.example.com."
    )


def tag_fault(tag: str) -> str:
    if "," in tag or tag != " ".join(tag.split()) or not tag.isprintable():
        return gettext("a tag is one line of text without commas, for example: rates desk.")
    if not 0 < len(tag) <= MAX_TAG_LENGTH:
        return gettext("a tag has 1 to %(limit)d characters.") % {"limit": MAX_TAG_LENGTH}
    return ""


def unknown_fault(name: str, known: Iterable[str], sentence: str) -> str:
    return "" if name in known else sentence % {"name": name, "known": ", ".join(known)}


def _parameter_fault(name: str) -> str:
    sentence = gettext("the parameter '%(name)s' is set by the server. Remove it.")
    return sentence % {"name": name} if name in RESERVED_PARAMETERS else ""


def _tool_fault(name: str) -> str:
    sentence = gettext("there is no tool '%(name)s'. Use one of: %(known)s.")
    return unknown_fault(name, tool_names(), sentence)


def _image_fault(image: str) -> str:
    if image and not image.startswith(("https://", "http://", IMAGE_DATA_START)):
        return gettext("must be a URL that starts with https://, or data:image/png;base64,…")
    if not image.startswith(IMAGE_DATA_START) and len(image) > MAX_URL_LENGTH:
        return gettext("a URL has %(limit)d characters at most.") % {"limit": MAX_URL_LENGTH}
    return ""


def unique_by(what: Text, key: Callable[[Any], str] = str) -> AfterValidator:
    """Return a validator of lists that refuses two entries with the same key."""

    def check(entries: list[Any]) -> list[Any]:
        refuse_repeated(list(map(key, entries)), what=what)
        return entries

    return AfterValidator(check)


def without(find_fault: Callable[[str], str], code: str = "invalid") -> AfterValidator:
    """Return a validator of texts from a function that returns a message."""

    def check(text: str) -> str:
        if message := find_fault(text):
            raise fault(message, code)
        return text

    return AfterValidator(check)


def matching(rule: RegexValidator) -> AfterValidator:
    """Return a validator of texts that has the pattern and the message of one of a form."""
    return without(
        lambda text: "" if re.search(rule.regex, text) else str(rule.message),
        "string_pattern_mismatch",
    )


class _Features(StoredRecord):
    """A switch for every feature of the protocol."""

    streaming: Literal[True] = True

    def row(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude={"streaming"})


class _Differences(StoredRecord):
    """A record of which a draft stores the values that differ from the defaults."""

    def row(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True)


_Count: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None
_Dollars: TypeAlias = (
    Annotated[float, Field(gt=0, le=MAX_LIMIT_DOLLARS, allow_inf_nan=False)] | None
)


class LimitsEntry(_Differences):
    """Usage limits of a copilot, key or user; None is unlimited."""

    concurrent: _Count = labelled(None, _("Concurrent answers"))
    requests_per_minute: _Count = labelled(None, _("Requests per minute"))
    requests_per_day: _Count = labelled(None, _("Requests per day"))
    requests_per_month: _Count = labelled(None, _("Requests per month"))
    tokens_per_minute: _Count = labelled(None, _("Tokens per minute"))
    tokens_per_day: _Count = labelled(None, _("Tokens per day"))
    tokens_per_month: _Count = labelled(None, _("Tokens per month"))
    usd_per_minute: _Dollars = labelled(None, _("US dollars per minute"))
    usd_per_day: _Dollars = labelled(None, _("US dollars per day"))
    usd_per_month: _Dollars = labelled(None, _("US dollars per month"))


LIMITS: Mapping[str, Text] = {
    name: info.title or name for name, info in LimitsEntry.model_fields.items()
}


class DataMessagesEntry(_Differences):
    """Parts of a request that become context data."""

    widgets: bool = labelled(
        False, _("Widgets"), _("The list of widgets, as one entry of the kind “widgets”.")
    )
    context: bool = labelled(
        False, _("Artifacts of the chat"), _("The parts of an artifact become one entry.")
    )
    results: bool = labelled(False, _("Widget data"), _("Data of one widget becomes one entry."))
    workspace: bool = labelled(
        False, _("Dashboard"), _("Its tabs and widgets, and the user's time zone.")
    )
    options: bool = labelled(
        False, _("Chat options"), _("The user's choices in the chat settings.")
    )
    merge: bool = labelled(
        True, _("Merge entries of one kind"), _("When off, the model sees every entry.")
    )


DATA_MESSAGES = tuple(
    Option(name, info.title or "", info.description or "", default=info.default)
    for name, info in DataMessagesEntry.model_fields.items()
)

if TYPE_CHECKING:
    FeaturesEntry: TypeAlias = StoredRecord
    DataKindValue: TypeAlias = str
else:
    _switches = {
        one.key.replace("-", "_"): (bool, Field(one.default, alias=one.key)) for one in FEATURES
    }
    FeaturesEntry = create_model("FeaturesEntry", __base__=_Features, **_switches)
    DataKindValue = Literal[tuple(kind.value for kind in DataKind)]

# A test compares these values with the enumerations.
AccessValue = Literal["open", "key"]
CitationValue = Literal["off", "widgets", "documents"]
LoggingValue = Literal["everything", "metadata", "nothing"]
WidgetDataValue = Literal["fetch", "ask", "off"]
Prompt = Annotated[str, StringConstraints(max_length=MAX_PROMPT_LENGTH)]
Description = Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_LENGTH)]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"\S"),
    without(bidi_fault, "bidi"),
]
Slug = Annotated[str, StringConstraints(max_length=60), matching(SLUG)]
Image = Annotated[str, without(_image_fault, "image")]
ModelId = Annotated[str, StringConstraints(max_length=200, pattern=r"\S")]
ParameterName = Annotated[
    str,
    StringConstraints(max_length=60),
    matching(PARAMETER_NAME),
    without(_parameter_fault, "reserved"),
]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Tools = Annotated[list[Annotated[str, without(_tool_fault, "unknown_tool")]], unique_by(_("tool"))]
_HtmlSource = Annotated[
    str, StringConstraints(max_length=200), without(html_source_fault, "html_source")
]
HtmlSources = Annotated[list[_HtmlSource], unique_by(_("URL"))]
Tags = Annotated[
    list[Annotated[str, without(tag_fault, "tag")]],
    Field(max_length=MAX_TAGS),
    unique_by(_("tag"), str.casefold),
]
