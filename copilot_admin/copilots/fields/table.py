"""The table of draft fields: a row each, in the order of a copilot file."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import CitationMode, WidgetDataMode
from copilot_admin.copilots.fields import options, values
from copilot_admin.copilots.fields.codecs import (
    call_limits_in_words,
    features_in_words,
    features_of,
    give_features,
    give_image,
    image_in_words,
    image_of,
    limits_in_words,
    provider_name,
)
from copilot_admin.copilots.fields.controls import CustomFeatureEntry
from copilot_admin.copilots.fields.draft_field import (
    Choice,
    DraftField,
    Input,
    Rows,
    Section,
    Switches,
    Texts,
)
from copilot_admin.copilots.fields.records import (
    CallLimitEntry,
    DataNoteEntry,
    FallbackEntry,
    Line,
    ModelEntry,
    StepEntry,
    short_forms,
)
from copilot_admin.copilots.fields.sections import (
    ACCESS_AND_LOGGING,
    COMPONENTS,
    DATA_AND_TOOLS,
    DATA_NOTES,
    FEATURES,
    IDENTITY,
    INSTRUCTIONS,
    MODEL,
    PARAMETERS,
    PATIENCE,
    SECTIONS,
    STEPS_AND_STARTERS,
)
from copilot_admin.models import Access, Logging

DRAFT_FIELDS: tuple[DraftField, ...] = (
    DraftField(
        key="slug",
        label=_("Slug"),
        help=_(
            "Part of the address that Workspace calls. Empty: made of the name. Fixed once "
            "published."
        ),
        section=IDENTITY,
        file=values.Slug,
        is_versioned=False,
        is_always_exported=True,
    ),
    DraftField(
        key="name",
        label=_("Name"),
        help=_("What people see in Workspace. No two copilots share a name."),
        section=IDENTITY,
        place=-1,
        file=values.Name,
        is_always_exported=True,
    ),
    DraftField(
        key="description",
        label=_("Description"),
        help=_("The welcome text of an empty chat."),
        section=IDENTITY,
        file=values.Description,
        editor=Input.PARAGRAPH,
        is_always_exported=True,
    ),
    DraftField(
        key="image",
        column="image_url",
        label=_("Image address"),
        help=_(
            "The address of a picture on the web, which is fetched once when you save. An uploaded "
            "image goes first."
        ),
        section=IDENTITY,
        file=values.Image,
        editor=Input.ADDRESS,
        inputs=("upload", "remove_image", "image_url"),
        compared_as=_("Image"),
        in_words=image_in_words,
        of_draft=image_of,
        into_draft=give_image,
    ),
    DraftField(
        key="system_prompt",
        label=_("System prompt"),
        help=_("Who the copilot is and how it answers."),
        section=INSTRUCTIONS,
        file=values.Prompt,
        editor=Input.PROMPT,
    ),
    DraftField(
        key="provider",
        label=_("Provider"),
        section=MODEL,
        file=values.Name,
        is_always_exported=True,
        of_draft=provider_name,
    ),
    DraftField(
        key="model",
        label=_("Model"),
        help=_("The id that the provider knows the model by."),
        section=MODEL,
        is_beside=True,
        file=values.ModelId,
        editor=Input.SUGGESTIONS,
        is_always_exported=True,
    ),
    DraftField(
        key="models",
        column="model_choices",
        label=_("Model picker"),
        help=_("Models that people may choose from in Workspace. None: there is no picker."),
        section=PARAMETERS,
        place=1,
        file=values.Models,
        editor=Rows(record=ModelEntry, add_label=_("Add a model"), unique="id"),
    ),
    DraftField(
        key="fallbacks",
        label=_("Fallback models"),
        help=_(
            "Tried in this order when a model fails before its first word. The transcript says "
            "which one answered."
        ),
        section=PARAMETERS,
        place=1,
        file=values.Fallbacks,
        editor=Rows(record=FallbackEntry, add_label=_("Add a fallback")),
    ),
    DraftField(
        key="parameters",
        label=_("Parameters"),
        section=PARAMETERS,
        file=values.Parameters,
        editor=Input.OWN,
        inputs=(
            ("temperature", "max_tokens"),
            ("top_p", "reasoning_effort"),
            "more_parameters",
        ),
    ),
    DraftField(
        key="access",
        label=_("Who may ask"),
        section=ACCESS_AND_LOGGING,
        file=values.one_of(Access) | None,
        file_default=None,  # whoever imports the file says what it is then
        editor=Choice(options.ACCESS),
        is_versioned=False,
        is_always_exported=True,
    ),
    DraftField(
        key="enabled",
        label=_("Switched on"),
        help=_("Off: it answers nobody and is in no list. Acts at once."),
        section=ACCESS_AND_LOGGING,
        place=-1,
        file=bool,
        is_versioned=False,
        is_always_exported=True,
    ),
    DraftField(
        key="widget_data",
        label=_("When it reads widgets"),
        section=DATA_AND_TOOLS,
        file=values.one_of(WidgetDataMode),
        editor=Choice(options.WIDGET_DATA),
        is_always_exported=True,
        compared_as=_("Widget data"),
    ),
    DraftField(
        key="features",
        label=_("Workspace features"),
        section=FEATURES,
        file=values.FeaturesEntry,
        file_default=values.FeaturesEntry(),
        editor=Switches(options.FEATURE_SWITCHES),
        is_always_exported=True,
        in_words=features_in_words,
        of_draft=features_of,
        into_draft=give_features,
    ),
    DraftField(
        key="custom_features",
        label=_("Controls of your own"),
        help=_("People find them in the settings of a chat. What they choose reaches your prompt."),
        section=FEATURES,
        file=values.CustomFeatures,
        editor=Rows(record=CustomFeatureEntry, add_label=_("Add a control"), unique="key"),
    ),
    DraftField(
        key="tools",
        label=_("Tools"),
        section=DATA_AND_TOOLS,
        file=values.Tools,
        editor=Input.TOOLS,
    ),
    DraftField(
        key="html_sources",
        label=_("Images in HTML"),
        help=_(
            "Addresses such as https://charts.example.com from which images in HTML may be loaded. "
            "Each of them learns what the address of an image says, and models write addresses as "
            "the data they read asks them to. None: only images that are in the HTML itself are "
            "shown."
        ),
        section=DATA_AND_TOOLS,
        file=values.HtmlSources,
        editor=Texts(
            noun=_("address"),
            label=_("Address"),
            add_label=_("Add an address"),
            longest=200,
            fault_of=values.html_source_fault,
            differ=True,
        ),
    ),
    DraftField(
        key="components",
        label=_("Components"),
        section=COMPONENTS,
        file=values.Components,
        editor=Input.COMPONENTS,
        in_file=short_forms,
    ),
    DraftField(
        key="citations",
        label=_("Citations"),
        section=DATA_AND_TOOLS,
        file=values.one_of(CitationMode),
        editor=Choice(options.CITATIONS),
    ),
    DraftField(
        key="images",
        column="sees_images",
        label=_("Look at images"),
        help=_(
            "Pictures of widgets and attached ones are shown to the model. Only for models that "
            "can see: others may refuse the question. Off: the model is told of them in words."
        ),
        section=DATA_AND_TOOLS,
        file=bool,
    ),
    DraftField(
        key="read_links",
        label=_("Read links"),
        help=_(
            "Pages and files whose addresses stand in a question are fetched, four at most, and the "
            "model is told what they say. Nothing in a private network is reached. Off: no address "
            "is followed."
        ),
        section=DATA_AND_TOOLS,
        file=bool,
    ),
    DraftField(
        key="show_steps",
        label=_("Show steps"),
        help=_("People see what the copilot does while it works."),
        section=STEPS_AND_STARTERS,
        file=bool,
    ),
    DraftField(
        key="steps",
        label=_("Fixed steps"),
        help=_("Shown with every answer, word for word."),
        section=STEPS_AND_STARTERS,
        place=1,
        file=list[StepEntry],
        editor=Rows(record=StepEntry, add_label=_("Add a step")),
    ),
    DraftField(
        key="data",
        column="data_notes",
        label=_("Data notes"),
        help=_("The model sees them with every question. Later notes win over earlier ones."),
        section=DATA_NOTES,
        file=list[DataNoteEntry],
        editor=Rows(record=DataNoteEntry, add_label=_("Add a data note")),
    ),
    DraftField(
        key="data_messages",
        label=_("Sent as data notes"),
        section=DATA_NOTES,
        file=values.DataMessagesEntry,
        file_default=values.DataMessagesEntry(),
        editor=Switches(options.DATA_MESSAGES),
        compared_as=_("Data messages"),
    ),
    DraftField(
        key="stream_all_text",
        label=_("Show results of components"),
        help=_(
            "Text that a component gives to people and model is part of the answer. Off: it is a "
            "step, and the model says it in its own words."
        ),
        section=COMPONENTS,
        file=bool,
    ),
    DraftField(
        key="reasoning_steps",
        label=_("Show reasoning"),
        help=_("The reasoning text of the model is one of the steps."),
        section=STEPS_AND_STARTERS,
        file=bool,
    ),
    DraftField(
        key="max_data_tokens",
        label=_("Most data"),
        help=_(
            "Tokens of data that a question may bring; the rest is left out, with a notice. Empty: "
            "about 100,000."
        ),
        section=PATIENCE,
        file=values.DataTokens | None,
    ),
    DraftField(
        key="max_client_calls",
        label=_("Most calls of Workspace"),
        help=_(
            "How often a question may ask Workspace for anything: data, tools, changes of the "
            "dashboard. Then the copilot answers with what it has, and says so."
        ),
        section=PATIENCE,
        file=values.ClientCalls,
    ),
    DraftField(
        key="client_call_limits",
        label=_("Of these at most"),
        help=_("Limits of their own, of one question as well. What is not here has none."),
        section=PATIENCE,
        file=values.CallLimits,
        editor=Rows(record=CallLimitEntry, add_label=_("Add a limit"), unique="function"),
        compared_as=_("Limits of calls"),
        in_words=call_limits_in_words,
    ),
    DraftField(
        key="starters",
        label=_("Starter questions"),
        help=_("Good first questions, for people who try the copilot."),
        section=STEPS_AND_STARTERS,
        place=1,
        file=list[Line],
        editor=Texts(
            noun=_("question"), label=_("Question"), add_label=_("Add a question"), longest=500
        ),
    ),
    DraftField(
        key="limits",
        label=_("Limits"),
        file=values.LimitsEntry,
        file_default=values.LimitsEntry(),
        in_words=limits_in_words,
        is_versioned=False,
    ),
    DraftField(
        key="logging",
        label=_("What is kept"),
        section=ACCESS_AND_LOGGING,
        file=values.one_of(Logging),
        editor=Choice(options.LOGGING),
        is_versioned=False,
    ),
    DraftField(key="tags", label=_("Tags"), file=values.Tags, file_default=[], is_versioned=False),
    DraftField(
        key="retention_days",
        label=_("Kept for days"),
        file=values.RetentionDays | None,
        is_versioned=False,
        is_keeping=True,
    ),
    DraftField(
        key="redaction",
        label=_("Not stored"),
        file=values.Redaction,
        file_default=[],
        is_versioned=False,
        is_keeping=True,
    ),
    DraftField(
        key="redacted_expressions",
        label=_("Own expressions that are not stored"),
        file=values.RedactedExpressions,
        file_default=[],
        is_versioned=False,
        is_keeping=True,
    ),
)

BY_KEY: Mapping[str, DraftField] = {field.key: field for field in DRAFT_FIELDS}
VERSIONED = tuple(field for field in DRAFT_FIELDS if field.is_versioned)
AT_ONCE = tuple(field for field in DRAFT_FIELDS if not field.is_versioned)


def in_section(section: Section) -> tuple[DraftField, ...]:
    """The fields of a section of the form, in the form's order."""
    found = (field for field in DRAFT_FIELDS if field.section is section)
    return tuple(sorted(found, key=lambda field: field.place))


IN_FORM = tuple(field for section in SECTIONS for field in in_section(section))
