"""The controls of a builder's own: what each has, in a file, in a row of the form, and stored."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self, assert_never

from django.utils.translation import gettext_lazy as _
from pydantic import JsonValue, StringConstraints, model_validator

from copilot_admin.copilots.fields.records import Line
from copilot_admin.copilots.fields.shape import StoredRecord, fault, refuse_repeated, stored
from copilot_admin.copilots.fields.shown import Shown
from protocol.features import FEATURE_KEYS

TAKEN_KEYS = FEATURE_KEYS | {"streaming"}


@dataclass(frozen=True, slots=True)
class Only:
    """The one type of a control that has a key; others do not store it."""

    type: str


class States(StoredRecord):
    """What `{{ options.<key>.state }}` says for a toggle."""

    on: Annotated[
        Line,
        Shown(
            name="state_on",
            label=_("Text when on"),
            help=_("What {{ options.key.state }} says."),
            is_optional=True,
        ),
    ] = "on"
    off: Annotated[Line, Shown(name="state_off", label=_("Text when off"), is_optional=True)] = (
        "off"
    )


class OptionEntry(StoredRecord):
    """A choice of a select."""

    label: Line
    value: Line


class CustomFeatureEntry(StoredRecord):
    """A control of the builder's own."""

    key: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=60),
        Shown(
            label=_("Key"),
            help=_("Its name in the prompt. Empty: made from the label."),
            is_optional=True,
            misfit=_(
                "Use lower-case letters and digits, with single hyphens between them: "
                "deep-research."
            ),
        ),
    ]
    label: Annotated[str, StringConstraints(min_length=1, max_length=100), Shown(label=_("Label"))]
    type: Annotated[
        Literal["toggle", "select", "text"],
        Shown(
            label=_("Kind"),
            options=(("toggle", _("Switch")), ("select", _("Choice")), ("text", _("Text"))),
        ),
    ] = "toggle"
    default: Annotated[
        JsonValue,
        Shown(name="default_on", label=_("On at the start"), is_switch=True),
        Shown(label=_("Value at the start"), longest=500),
    ] = None
    description: Annotated[
        str, StringConstraints(max_length=300), Shown(label=_("Description"))
    ] = ""
    states: Annotated[States | None, Only("toggle")] = None
    model: Annotated[
        str,
        StringConstraints(max_length=200),
        Only("toggle"),
        Shown(
            label=_("Model when on"),
            help=_(
                "Another model of the provider answers while it is on, such as one that searches "
                "the web."
            ),
        ),
    ] = ""
    provider: Annotated[
        str,
        StringConstraints(max_length=100),
        Only("toggle"),
        Shown(
            label=_("Its provider"),
            help=_("By name. Empty: the copilot's own provider has the model."),
        ),
    ] = ""
    options: Annotated[
        list[OptionEntry],
        Only("select"),
        Shown(
            label=_("Choices"),
            help=_(
                "One per line. Write “Short = brief” to show Short and put brief in the prompt."
            ),
            longest=4000,
            lines=3,
        ),
    ] = []
    placeholder: Annotated[
        str,
        StringConstraints(max_length=200),
        Only("text"),
        Shown(label=_("Example in the empty field")),
    ] = ""

    # Stored rows begin with these; an export shows them in that order.
    _first: ClassVar[tuple[str, ...]] = (
        "key",
        "label",
        "type",
        "description",
        "options",
        "default",
    )

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        if self.key in TAKEN_KEYS:
            sentence = _("the key '%(key)s' belongs to Workspace. Choose another.")
            raise fault(sentence % {"key": self.key})
        if self.states and self.type != "toggle":
            raise fault(_("a %(type)s has no states. Leave them out.") % {"type": self.type})
        if self.model and self.type != "toggle":
            sentence = _("a %(type)s has no model. Leave it out, or make it a toggle.")
            raise fault(sentence % {"type": self.type})
        if self.provider and not self.model:
            raise fault(_("has a provider but no model. Name the model that answers."))
        if self.options and self.type != "select":
            raise fault(_("a %(type)s has no options. Leave them out.") % {"type": self.type})
        self._check_default()
        return self

    def row(self) -> dict[str, Any]:
        """The row that a draft stores: only what the type has."""
        values = {**dict(self), "default": self._default()}
        keys = dict.fromkeys((*self._first, *values))
        return {key: stored(values[key]) for key in keys if key == "default" or self._has(key)}

    def _has(self, key: str) -> bool:
        only = (one for one in type(self).model_fields[key].metadata if isinstance(one, Only))
        return bool(getattr(self, key)) and all(one.type == self.type for one in only)

    def _default(self) -> JsonValue:
        match self.type:
            case "toggle":
                return self.default is True
            case "select":
                return self.default or self.options[0].value
            case "text":
                return self.default or ""
            case _:
                assert_never(self.type)

    def _check_default(self) -> None:
        if self.default is None:
            if self.type == "select" and not self.options:
                raise fault(_("a select needs options. List at least one."))
            return
        match self.type:
            case "toggle" if not isinstance(self.default, bool):
                raise fault(_("the default of a toggle is true or false."))
            case "text" if not isinstance(self.default, str):
                raise fault(_("the default of a text is text. Put it in quotes."))
            case "select":
                self._check_options()
            case _:
                pass

    def _check_options(self) -> None:
        values = [option.value for option in self.options]
        if not values:
            raise fault(_("a select needs options. List at least one."))
        refuse_repeated(values, what=_("option value"))
        if self.default not in ("", *values):
            sentence = _("the default is no option. Use one of: %(known)s.")
            raise fault(sentence % {"known": ", ".join(values)})
