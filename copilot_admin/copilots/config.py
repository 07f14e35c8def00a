"""One description of a copilot, behind form, copilot file, version, comparison and agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias, cast

from django.utils.translation import gettext_lazy as _
from pydantic import Field, JsonValue
from pydantic_core import PydanticUndefined

from copilot_admin.agent.values.spec import (
    CALL_LIMITS,
    MAX_CALL_LIMIT,
    MAX_CLIENT_CALLS,
    MIN_DATA_TOKENS,
    CitationMode,
    WidgetDataMode,
)
from copilot_admin.copilots import config_form as form
from copilot_admin.copilots import config_types as types
from copilot_admin.copilots.config_form import Editor, Input, Rows, Section, Text, Texts
from copilot_admin.copilots.config_records import (
    CallLimitEntry,
    ComponentEntry,
    CustomFeatureEntry,
    DataNoteEntry,
    FallbackEntry,
    ModelEntry,
    StepEntry,
    to_short_forms,
)
from copilot_admin.copilots.config_types import to_stored, unique_by, without
from copilot_admin.models import Copilot, Logging
from copilot_admin.models.copilots import MAX_RETENTION_DAYS
from copilot_admin.redaction.expressions import expression_fault
from copilot_admin.redaction.rules import MAX_EXPRESSIONS

MAX_FALLBACKS = 5
Line: TypeAlias = str | tuple[str, ...]  # names of inputs next to each other


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigField:
    """Storage, form and display of a field of `CopilotConfig`.

    Key, type, label, help and default come from the model.

    Attributes:
        column: Of `Copilot`, where it isn't the key.
        attribute: Of `Copilot`: the value as a version has it, where it isn't the column.
        is_versioned: Else it applies immediately and is part of no version.
        is_retention: Set by those who are responsible for stored data, not by builders.
        is_always_exported: Also where it has its default.
        section: Of the form; None: edited in files or on pages of their own.
        place: Within the section; fields with the same are in the order of the model.
        is_beside: In one line with the field before it.
        inputs: Lines of inputs, where it isn't one of the column's name. Problems are shown at
            the last.
        compared_as: Label in a comparison, where it isn't the label of the form.
        to_file: Converts a stored value to that of a file.
    """

    key: str = ""
    type: Any = None
    label: Text = ""
    help: Text = ""
    default: Any = None
    is_required: bool = False
    column: str = ""
    attribute: str = ""
    is_versioned: bool = True
    is_retention: bool = False
    is_always_exported: bool = False
    section: Section | None = None
    place: int = 0
    is_beside: bool = False
    editor: Editor = Input.COLUMN
    inputs: tuple[Line, ...] = ()
    compared_as: Text = ""
    to_file: Callable[[Any], Any] | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """The inputs of the field in the form, line by line."""
        return self.inputs or (self.column,)

    @property
    def problem_input(self) -> str:
        """The input at which its problems are shown."""
        last = self.lines[-1]
        return last if isinstance(last, str) else last[-1]

    def value_of(self, copilot: Copilot) -> Any:
        """Return the value in a draft, as a version has it."""
        return getattr(copilot, self.attribute)

    def set_value(self, copilot: Copilot, value: Any) -> None:
        """Set the value in a draft without saving it."""
        setattr(copilot, self.attribute, value)


def _field(
    default: Any, label: Text, help: Text = "", *, by: Callable[[], Any] | None = None
) -> Any:
    title, description = cast("str", label), cast("str", help)  # translated when shown
    if by is not None:
        return Field(default_factory=by, title=title, description=description)
    return Field(default, title=title, description=description)


class CopilotConfig(types.Shape):
    """The configuration of a copilot: every key of its entry in a copilot file."""

    slug: Annotated[
        types.Slug,
        ConfigField(section=form.IDENTITY, is_versioned=False, is_always_exported=True),
    ] = _field(
        ...,
        _("URL name"),
        _("Leave blank to create it from the name. Cannot be changed after publishing."),
    )
    name: Annotated[
        types.Name, ConfigField(section=form.IDENTITY, place=-1, is_always_exported=True)
    ] = _field(..., _("Name"), _("The name must be unique."))
    description: Annotated[
        types.Description,
        ConfigField(section=form.IDENTITY, editor=Input.PARAGRAPH, is_always_exported=True),
    ] = _field("", _("Description"), _("Shown to users when they start a chat."))
    image: Annotated[
        types.Image,
        ConfigField(
            section=form.IDENTITY,
            column="image_url",
            attribute="picture",
            editor=Input.ADDRESS,
            inputs=("upload", "remove_image", "image_url"),
            compared_as=_("Image"),
        ),
    ] = _field("", _("Image URL"), _("Ignored if you upload an image."))
    system_prompt: Annotated[
        types.Prompt, ConfigField(section=form.INSTRUCTIONS, editor=Input.PROMPT)
    ] = _field(
        "",
        _("Instructions"),
        _("Describe the copilot's role and how it should answer."),
    )
    provider: Annotated[
        types.Name,
        ConfigField(section=form.MODEL, attribute="provider_name", is_always_exported=True),
    ] = _field(..., _("Provider"))
    model: Annotated[
        types.ModelId,
        ConfigField(
            section=form.MODEL,
            is_beside=True,
            editor=Input.SUGGESTIONS,
            is_always_exported=True,
        ),
    ] = _field(..., _("Model"), _("Model ID, for example gpt-4o."))
    models: Annotated[
        list[ModelEntry],
        unique_by(_("model"), lambda row: row.id),
        ConfigField(
            section=form.PARAMETERS,
            place=1,
            column="model_choices",
            editor=Rows(record=ModelEntry, add_label=_("Add model"), unique="id"),
        ),
    ] = _field(
        [],
        _("Model picker"),
        _("Models that users can choose in Workspace. Leave empty to hide the picker."),
    )
    fallbacks: Annotated[
        list[FallbackEntry],
        Field(max_length=MAX_FALLBACKS),
        ConfigField(
            section=form.PARAMETERS,
            place=1,
            editor=Rows(record=FallbackEntry, add_label=_("Add fallback")),
        ),
    ] = _field(
        [],
        _("Fallback models"),
        _("Tried in this order if a model fails before it starts to answer."),
    )
    parameters: Annotated[
        dict[types.ParameterName, JsonValue],
        ConfigField(
            section=form.PARAMETERS,
            editor=Input.OWN,
            inputs=(
                ("temperature", "max_tokens"),
                ("top_p", "reasoning_effort"),
                "more_parameters",
            ),
        ),
    ] = _field({}, _("Parameters"))
    access: Annotated[
        types.AccessValue | None,
        ConfigField(
            section=form.ACCESS_AND_LOGGING,
            editor=form.ACCESS,
            is_versioned=False,
            is_always_exported=True,
        ),
    ] = _field(None, _("Access"))  # without a value, the import decides
    enabled: Annotated[
        bool,
        ConfigField(
            section=form.ACCESS_AND_LOGGING,
            place=-1,
            is_versioned=False,
            is_always_exported=True,
        ),
    ] = _field(
        True,
        _("Enabled"),
        _("When off, the copilot is hidden and does not answer. Takes effect immediately."),
    )
    widget_data: Annotated[
        types.WidgetDataValue,
        ConfigField(
            section=form.DATA_AND_TOOLS,
            editor=form.WIDGET_DATA,
            is_always_exported=True,
            compared_as=_("Widget data"),
        ),
    ] = _field(WidgetDataMode.ASK.value, _("Read widgets"))
    features: Annotated[
        types.FeaturesEntry,
        ConfigField(
            section=form.FEATURES_SECTION,
            attribute="all_features",
            editor=form.FEATURE_SWITCHES,
            is_always_exported=True,
        ),
    ] = _field(types.FeaturesEntry(), _("Workspace features"))
    custom_features: Annotated[
        list[CustomFeatureEntry],
        unique_by(_("key"), lambda row: row.key),
        ConfigField(
            section=form.FEATURES_SECTION,
            editor=Rows(record=CustomFeatureEntry, add_label=_("Add option"), unique="key"),
        ),
    ] = _field(
        [],
        _("Custom options"),
        _("Users set them in the chat settings. Use the values in your prompt."),
    )
    tools: Annotated[types.Tools, ConfigField(section=form.DATA_AND_TOOLS, editor=Input.TOOLS)] = (
        _field([], _("Tools"))
    )
    html_sources: Annotated[
        types.HtmlSources,
        ConfigField(
            section=form.DATA_AND_TOOLS,
            editor=Texts(
                noun=_("host"),
                label=_("Host"),
                add_label=_("Add host"),
                max_length=200,
                find_fault=types.html_source_fault,
                differ=True,
            ),
        ),
    ] = _field(
        [],
        _("Allowed image hosts"),
        _(
            "Images in HTML may be loaded from these hosts, for example https://charts.example.com. "
            "Each host can see the image URL, which may contain data. Leave empty to allow "
            "embedded images only."
        ),
    )
    components: Annotated[
        list[ComponentEntry],
        unique_by(_("component"), lambda row: row.name),
        ConfigField(section=form.COMPONENTS, editor=Input.COMPONENTS, to_file=to_short_forms),
    ] = _field([], _("Built-in tools"))
    citations: Annotated[
        types.CitationValue,
        ConfigField(section=form.DATA_AND_TOOLS, editor=form.CITATIONS),
    ] = _field(CitationMode.WIDGETS.value, _("Citations"))
    images: Annotated[bool, ConfigField(section=form.DATA_AND_TOOLS, column="sees_images")] = (
        _field(False, _("Vision"), _("Send images to the model. Requires a vision model."))
    )
    read_links: Annotated[bool, ConfigField(section=form.DATA_AND_TOOLS)] = _field(
        True,
        _("Read links"),
        _("Reads up to four links in a question. Private networks are blocked."),
    )
    show_steps: Annotated[bool, ConfigField(section=form.STEPS_AND_STARTERS)] = _field(
        True, _("Show steps"), _("Users see what the copilot does while it works.")
    )
    steps: Annotated[
        list[StepEntry],
        ConfigField(
            section=form.STEPS_AND_STARTERS,
            place=1,
            editor=Rows(record=StepEntry, add_label=_("Add step")),
        ),
    ] = _field([], _("Fixed steps"), _("Shown with every answer, word for word."))
    data: Annotated[
        list[DataNoteEntry],
        ConfigField(
            section=form.DATA_NOTES,
            column="data_notes",
            editor=Rows(record=DataNoteEntry, add_label=_("Add context data")),
        ),
    ] = _field(
        [],
        _("Context data"),
        _("The model sees it with every question. Later entries override earlier ones."),
    )
    data_messages: Annotated[
        types.DataMessagesEntry,
        ConfigField(
            section=form.DATA_NOTES,
            editor=form.DATA_MESSAGES,
            compared_as=_("Data messages"),
        ),
    ] = _field(types.DataMessagesEntry(), _("Sent as context data"))
    stream_all_text: Annotated[bool, ConfigField(section=form.COMPONENTS)] = _field(
        False,
        _("Show tool results"),
        _(
            "Text that a built-in tool returns becomes part of the answer. When off, it is a step "
            "and the model rephrases it."
        ),
    )
    reasoning_steps: Annotated[bool, ConfigField(section=form.STEPS_AND_STARTERS)] = _field(
        False, _("Show reasoning"), _("Shows the model's reasoning as a step.")
    )
    max_data_tokens: Annotated[
        Annotated[int, Field(ge=MIN_DATA_TOKENS)] | None,
        ConfigField(section=form.QUESTION_LIMITS),
    ] = _field(
        None,
        _("Max data (tokens)"),
        _("More data is left out, with a notice. Leave blank for about 100,000."),
    )
    max_client_calls: Annotated[
        Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT)],
        ConfigField(section=form.QUESTION_LIMITS),
    ] = _field(
        MAX_CLIENT_CALLS,
        _("Max Workspace calls"),
        _("Calls for data, tools and dashboard changes per question."),
    )
    client_call_limits: Annotated[
        list[CallLimitEntry],
        unique_by(_("function"), lambda row: row.function),
        ConfigField(
            section=form.QUESTION_LIMITS,
            editor=Rows(record=CallLimitEntry, add_label=_("Add limit"), unique="function"),
        ),
    ] = _field(
        None,
        _("Limits per function"),
        _("Calls of single functions per question. Others are unlimited."),
        by=lambda: [CallLimitEntry(function=one.function, most=one.most) for one in CALL_LIMITS],
    )
    starters: Annotated[
        list[types.Line],
        ConfigField(
            section=form.STEPS_AND_STARTERS,
            place=1,
            editor=Texts(
                noun=_("question"),
                label=_("Question"),
                add_label=_("Add question"),
                max_length=500,
            ),
        ),
    ] = _field([], _("Starter questions"), _("Example questions for a new chat."))
    limits: Annotated[types.LimitsEntry, ConfigField(is_versioned=False)] = _field(
        types.LimitsEntry(), _("Usage limits")
    )
    logging: Annotated[
        types.LoggingValue,
        ConfigField(section=form.ACCESS_AND_LOGGING, editor=form.LOGGING, is_versioned=False),
    ] = _field(Logging.EVERYTHING.value, _("Logging"))
    tags: Annotated[types.Tags, ConfigField(is_versioned=False)] = _field([], _("Tags"))
    retention_days: Annotated[
        Annotated[int, Field(ge=1, le=MAX_RETENTION_DAYS)] | None,
        ConfigField(is_versioned=False, is_retention=True),
    ] = _field(None, _("Retention (days)"))
    redaction: Annotated[
        list[types.DataKindValue],
        unique_by(_("kind")),
        ConfigField(is_versioned=False, is_retention=True),
    ] = _field([], _("Redacted data"))
    redacted_expressions: Annotated[
        list[Annotated[str, without(expression_fault)]],
        Field(max_length=MAX_EXPRESSIONS),
        unique_by(_("expression")),
        ConfigField(is_versioned=False, is_retention=True),
    ] = _field([], _("Redacted patterns"))


def _collect() -> tuple[ConfigField, ...]:
    found = []
    for key, info in CopilotConfig.model_fields.items():
        described = next(one for one in info.metadata if isinstance(one, ConfigField))
        column = described.column or key
        default = info.get_default(call_default_factory=True)
        found.append(
            replace(
                described,
                key=key,
                type=Annotated[info.annotation, *info.metadata],
                label=info.title or "",
                help=info.description or "",
                default=None if default is PydanticUndefined else to_stored(default),
                is_required=info.is_required(),
                column=column,
                attribute=described.attribute or column,
            )
        )
    return tuple(found)


CONFIG_FIELDS = _collect()
FIELDS_BY_KEY: Mapping[str, ConfigField] = {field.key: field for field in CONFIG_FIELDS}
VERSIONED_FIELDS = tuple(field for field in CONFIG_FIELDS if field.is_versioned)
LIVE_FIELDS = tuple(field for field in CONFIG_FIELDS if not field.is_versioned)


def fields_in(section: Section) -> tuple[ConfigField, ...]:
    """Return the fields of a section of the form, in the form's order."""
    found = (field for field in CONFIG_FIELDS if field.section is section)
    return tuple(sorted(found, key=lambda field: field.place))


FORM_FIELDS = tuple(field for section in form.SECTIONS for field in fields_in(section))
