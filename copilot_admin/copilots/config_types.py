"""Value types of a copilot's configuration, with their limits and messages."""

from collections.abc import Callable
from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model
from pydantic_core import PydanticCustomError

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.agent.values.spec import CitationMode, DataMessagePolicy, WidgetDataMode
from copilot_admin.models import Access, Logging
from copilot_admin.models.limits import MAX_LIMIT, MAX_LIMIT_DOLLARS
from copilot_admin.redaction.kinds import DataKind
from protocol.features import FEATURES

IMAGE_DATA_START = "data:image/"
MAX_TAGS = 20
MAX_TAG_LENGTH = 40  # characters: what a column of the list shows whole
MAX_PROMPT_LENGTH = 1_000_000  # characters
MAX_URL_LENGTH = 2000
MAX_DESCRIPTION_LENGTH = 10_000  # a card shows some 250
# Embeddings, overrides and isolates. Source: Unicode Standard Annex 9, table 4. The marks (U+200E,
# U+200F, U+061C) only help a neighbour, and are written in Arabic and Hebrew.
BIDI_CONTROLS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


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


def fault(sentence: str | Promise, code: str = "invalid") -> PydanticCustomError:
    """Return an error with a message of our own, to raise in a validator."""
    return PydanticCustomError(cast("Any", code), "{sentence}", {"sentence": str(sentence)})


def refuse_repeated(values: list[str], *, what: str | Promise) -> None:
    """Refuse a value that occurs twice.

    Raises:
        PydanticCustomError: For the first of them.
    """
    seen: set[str] = set()
    for value in values:
        if value in seen:
            sentence = _("the %(what)s '%(value)s' occurs twice. Remove one.")
            raise fault(sentence % {"what": what, "value": value}, "repeated")
        seen.add(value)


def remove_bidi_controls(text: str) -> str:
    """Return a text without characters that change its direction."""
    return "".join(sign for sign in text if sign not in BIDI_CONTROLS)


def bidi_fault(text: str) -> str:
    """Return the message for a text with a bidi control character, or an empty one."""
    found = next((f"{ord(sign):04X}" for sign in text if sign in BIDI_CONTROLS), "")
    if not found:
        return ""
    sentence = _("contains the invisible character U+%(code)s, which changes text direction.")
    return sentence % {"code": found} + " " + _("Remove it.")


def html_source_fault(source: str) -> str:
    """Return the message for an invalid image host, or an empty one."""
    host, colon, port = source.removeprefix("https://").partition(":")
    labels = [label.replace("-", "") for label in host.split(".")]
    is_host = host == host.lower() and all(one.isascii() and one.isalnum() for one in labels)
    is_port = not colon or (port.isascii() and port.isdecimal() and 0 < int(port) < 65536)
    if source.startswith("https://") and is_host and is_port:
        return ""
    return _("must be https:// and a lower-case host, for example https://charts.example.com.")


def tag_fault(tag: str) -> str:
    """Return the message for an invalid tag, or an empty one."""
    if "," in tag or tag != " ".join(tag.split()) or not tag.isprintable():
        return _("a tag is one line of text without commas, for example: rates desk.")
    if not 0 < len(tag) <= MAX_TAG_LENGTH:
        return _("a tag has 1 to %(limit)d characters.") % {"limit": MAX_TAG_LENGTH}
    return ""


def unique_by(what: str | Promise, key: Callable[[Any], str] = str) -> AfterValidator:
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


def _parameter_fault(name: str) -> str:
    if name not in RESERVED_PARAMETERS:
        return ""
    return _("the parameter '%(name)s' is set by the server. Remove it.") % {"name": name}


def _tool_fault(name: str) -> str:
    if name in tool_names():
        return ""
    words = {"name": name, "known": ", ".join(tool_names())}
    return _("there is no tool '%(name)s'. Use one of: %(known)s.") % words


def _image_fault(image: str) -> str:
    if image and not image.startswith(("https://", "http://", IMAGE_DATA_START)):
        return _("must be a URL that starts with https://, or data:image/png;base64,…")
    if not image.startswith(IMAGE_DATA_START) and len(image) > MAX_URL_LENGTH:
        return _("a URL has %(limit)d characters at most.") % {"limit": MAX_URL_LENGTH}
    return ""


def _always(value: bool) -> bool:
    if not value:
        raise fault(_("is always true. Remove the key."), "always_true")
    return value


class _Features(StoredRecord):
    """A switch for every feature of the protocol."""

    streaming: Annotated[bool, AfterValidator(_always)] = True

    def row(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude={"streaming"})


class _Differences(StoredRecord):
    """A record of which a draft stores the values that differ from the defaults."""

    def row(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True)


_Count = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
_Dollars = Annotated[float, Field(gt=0, le=MAX_LIMIT_DOLLARS, allow_inf_nan=False)]


class LimitsEntry(_Differences):
    """Usage limits of a copilot, key or user; None is unlimited."""

    requests_per_minute: _Count | None = None
    requests_per_day: _Count | None = None
    requests_per_month: _Count | None = None
    concurrent: _Count | None = None
    tokens_per_minute: _Count | None = None
    tokens_per_day: _Count | None = None
    tokens_per_month: _Count | None = None
    usd_per_minute: _Dollars | None = None
    usd_per_day: _Dollars | None = None
    usd_per_month: _Dollars | None = None


def _switches(name: str, base: type[StoredRecord], switches: dict[str, bool]) -> Any:
    described: dict[str, Any] = {
        key.replace("-", "_"): (bool, Field(default, alias=key))
        for key, default in switches.items()
    }
    return create_model(name, __base__=base, __doc__=base.__doc__, **described)


def _one_of(choices: type[Enum]) -> Any:
    return Literal[tuple(choice.value for choice in choices)]


if TYPE_CHECKING:
    FeaturesEntry: TypeAlias = StoredRecord
    DataMessagesEntry: TypeAlias = StoredRecord
    AccessValue: TypeAlias = str
    CitationValue: TypeAlias = str
    DataKindValue: TypeAlias = str
    LoggingValue: TypeAlias = str
    WidgetDataValue: TypeAlias = str
else:
    FeaturesEntry = _switches(
        "FeaturesEntry", _Features, {feature.key: feature.default for feature in FEATURES}
    )
    DataMessagesEntry = _switches("DataMessagesEntry", _Differences, asdict(DataMessagePolicy()))
    AccessValue = _one_of(Access)
    CitationValue = _one_of(CitationMode)
    DataKindValue = _one_of(DataKind)
    LoggingValue = _one_of(Logging)
    WidgetDataValue = _one_of(WidgetDataMode)

Prompt = Annotated[str, StringConstraints(max_length=MAX_PROMPT_LENGTH)]
Description = Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_LENGTH)]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"\S"),
    without(bidi_fault, "bidi"),
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Image = Annotated[str, without(_image_fault, "image")]
ModelId = Annotated[str, StringConstraints(max_length=200, pattern=r"\S")]
ParameterName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60),
    without(_parameter_fault, "reserved"),
]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Tools = Annotated[
    list[Annotated[str, without(_tool_fault, "unknown_tool")]], unique_by(gettext_lazy("tool"))
]
HtmlSources = Annotated[
    list[
        Annotated[str, StringConstraints(max_length=200), without(html_source_fault, "html_source")]
    ],
    unique_by(gettext_lazy("URL")),
]
Tags = Annotated[
    list[Annotated[str, without(tag_fault, "tag")]],
    Field(max_length=MAX_TAGS),
    unique_by(gettext_lazy("tag"), str.casefold),
]
