"""The types of the fields' values in a copilot file, with their limits and what is wrong in words."""

from collections.abc import Callable
from dataclasses import asdict
from enum import Enum
from typing import Annotated, Any, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, Field, JsonValue, StringConstraints, create_model

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.agent.values.spec import (
    MAX_CALL_LIMIT,
    MIN_DATA_TOKENS,
    DataMessagePolicy,
)
from copilot_admin.copilots.fields.controls import CustomFeatureEntry
from copilot_admin.copilots.fields.records import (
    CallLimitEntry,
    ComponentEntry,
    FallbackEntry,
    ModelEntry,
)
from copilot_admin.copilots.fields.shape import StoredRecord, fault, refuse_repeated
from copilot_admin.copilots.fields.text_checks import (
    description_length_fault,
    prompt_length_fault,
    turning_sign_fault,
)
from copilot_admin.models.copilots import MAX_RETENTION_DAYS
from copilot_admin.models.limits import MAX_LIMIT, MAX_LIMIT_DOLLARS
from copilot_admin.redaction.expressions import expression_fault
from copilot_admin.redaction.kinds import DataKind
from copilot_admin.redaction.rules import MAX_EXPRESSIONS
from protocol.features import FEATURES

IMAGE_DATA_START = "data:image/"
MOST_TAGS = 20
MAX_FALLBACKS = 5
LONGEST_TAG = 40  # characters: what a column of the list shows whole


def one_of(choices: type[Enum]) -> Any:
    """One of the values of an enum."""
    return Literal[tuple(choice.value for choice in choices)]


def _each_once(what: str | Promise, key: str) -> AfterValidator:
    def check(rows: list[Any]) -> list[Any]:
        refuse_repeated([getattr(row, key) for row in rows], what=what)
        return rows

    return AfterValidator(check)


def _each_text_once(what: str | Promise, *, fold: Callable[[str], str] = str) -> AfterValidator:
    def check(texts: list[str]) -> list[str]:
        refuse_repeated(list(map(fold, texts)), what=what)
        return texts

    return AfterValidator(check)


def _without(fault_of: Callable[[str], str | Promise]) -> AfterValidator:
    def check(text: str) -> str:
        if wrong := fault_of(text):
            raise fault(wrong)
        return text

    return AfterValidator(check)


def _free_parameter(name: str) -> str:
    if name in RESERVED_PARAMETERS:
        raise fault(
            _("the parameter '%(name)s' is set by the server. Take it out.") % {"name": name}
        )
    return name


def _known_tools(tools: list[str]) -> list[str]:
    refuse_repeated(tools, what=_("tool"))
    for name in tools:
        if name not in tool_names():
            sentence = _("there is no tool '%(name)s'. Use one of: %(known)s.")
            raise fault(sentence % {"name": name, "known": ", ".join(tool_names())})
    return tools


def html_source_fault(source: str) -> str | Promise:
    """What is wrong with an origin from which images in HTML are to be loaded; nothing when right."""
    host, colon, port = source.removeprefix("https://").partition(":")
    is_host = all(_is_label(label) for label in host.split("."))
    is_port = not colon or (port.isascii() and port.isdecimal() and 0 < int(port) < 65536)
    if source.startswith("https://") and is_host and is_port:
        return ""
    return _(
        "an address is https:// and a host in small letters, without a path, such as "
        "https://charts.example.com."
    )


def _is_label(label: str) -> bool:
    plain = label.replace("-", "")
    return plain.isascii() and plain.isalnum() and label == label.lower()


def tag_fault(tag: str) -> str | Promise:
    """What is wrong with a tag; nothing when it is right."""
    if "," in tag or tag != " ".join(tag.split()) or not tag.isprintable():
        return _("a tag is a few words on one line, without commas: rates desk.")
    if not 0 < len(tag) <= LONGEST_TAG:
        return _("a tag has 1 to %(longest)d characters.") % {"longest": LONGEST_TAG}
    return turning_sign_fault(tag)


def _image(image: str) -> str:
    if image and not image.startswith(("https://", "http://", IMAGE_DATA_START)):
        raise fault(
            _("an image is an address that begins with https://, or data:image/png;base64,…")
        )
    if len(image) > 2000 and not image.startswith(IMAGE_DATA_START):
        raise fault(_("an image address has 2000 characters at most."))
    return image


def _always(value: bool) -> bool:
    if not value:
        raise fault(_("is always true. Leave the key out."))
    return value


class _Features(StoredRecord):
    """A switch for every feature of the protocol."""

    streaming: Annotated[bool, AfterValidator(_always)] = True

    def row(self) -> dict[str, Any]:
        """All switches by their keys, as a draft stores them."""
        return self.model_dump(by_alias=True, exclude={"streaming"})


class _DataMessages(StoredRecord):
    """Which contents become Data messages."""

    def row(self) -> dict[str, Any]:
        """The switches that differ from their default, which are all that a draft stores."""
        return self.model_dump(exclude_defaults=True)


_Count = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
_Dollars = Annotated[float, Field(gt=0, le=MAX_LIMIT_DOLLARS, allow_inf_nan=False)]


class LimitsEntry(StoredRecord):
    """How much may be asked, of a copilot or of whatever else is limited; None: as much as comes."""

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

    def row(self) -> dict[str, Any]:
        """The limits that are set, as a draft stores them."""
        return self.model_dump(exclude_none=True)


def _switches(name: str, base: type[StoredRecord], switches: dict[str, bool]) -> Any:
    described: dict[str, Any] = {
        key.replace("-", "_"): (bool, Field(default, alias=key))
        for key, default in switches.items()
    }
    return create_model(name, __base__=base, __doc__=base.__doc__, **described)


FeaturesEntry: Any = _switches(
    "FeaturesEntry", _Features, {feature.key: feature.default for feature in FEATURES}
)
DataMessagesEntry: Any = _switches(
    "DataMessagesEntry",
    _DataMessages,
    asdict(DataMessagePolicy()),
)

Prompt = Annotated[str, _without(prompt_length_fault)]
Description = Annotated[str, _without(description_length_fault), _without(turning_sign_fault)]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"\S"),
    _without(turning_sign_fault),
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Image = Annotated[str, AfterValidator(_image)]
ModelId = Annotated[str, StringConstraints(max_length=200, pattern=r"\S")]
Models = Annotated[list[ModelEntry], _each_once(_("model"), "id")]
Fallbacks = Annotated[list[FallbackEntry], Field(max_length=MAX_FALLBACKS)]
ParameterName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60),
    AfterValidator(_free_parameter),
]
Parameters = dict[ParameterName, JsonValue]
CustomFeatures = Annotated[list[CustomFeatureEntry], _each_once(_("key"), "key")]
Components = Annotated[list[ComponentEntry], _each_once(_("component"), "name")]
Tools = Annotated[list[str], AfterValidator(_known_tools)]
HtmlSources = Annotated[
    list[Annotated[str, StringConstraints(max_length=200), _without(html_source_fault)]],
    _each_text_once(_("address")),
]
Tag = Annotated[str, _without(tag_fault)]
Tags = Annotated[
    list[Tag], Field(max_length=MOST_TAGS), _each_text_once(_("tag"), fold=str.casefold)
]
ClientCalls = Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT)]
CallLimits = Annotated[list[CallLimitEntry], _each_once(_("function"), "function")]
DataTokens = Annotated[int, Field(ge=MIN_DATA_TOKENS)]
RedactedKind: Any = one_of(DataKind)
RetentionDays = Annotated[int, Field(ge=1, le=MAX_RETENTION_DAYS)]
Redaction = Annotated[list[RedactedKind], _each_text_once(_("kind"))]
RedactedExpressions = Annotated[
    list[Annotated[str, _without(expression_fault)]],
    Field(max_length=MAX_EXPRESSIONS),
    _each_text_once(_("expression")),
]
