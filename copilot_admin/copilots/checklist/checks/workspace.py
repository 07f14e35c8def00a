"""Switches that contradict each other: what Workspace offers, and what the copilot makes of it."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.agent.values.spec import CitationMode, CopilotSpec, StepPlace, WidgetDataMode
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, warning
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts

_SELECT = "widget-dashboard-select"
WIDGET_FEATURES = frozenset({_SELECT, "widget-dashboard-search", "widget-global-search"})
FILES = "file-upload"


@Check
def widgets_never_read(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """People may choose widgets that the copilot never reads."""
    spec = content.spec
    if spec.widget_data is WidgetDataMode.OFF and spec.features & WIDGET_FEATURES:
        sentence = _(
            "Users can choose widgets, but the copilot never reads them. Let it read widgets, or "
            "turn the widget features off."
        )
        yield warning("widget_data", sentence)


@Check
def widgets_never_offered(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The copilot would read widgets, but Workspace sends none."""
    spec = content.spec
    if spec.widget_data is not WidgetDataMode.OFF and not spec.features & WIDGET_FEATURES:
        sentence = _(
            "The copilot reads widgets, but no widget feature is on. Turn one on, or set reading "
            "widgets to “Never”."
        )
        yield warning("features", sentence)


@Check
def nothing_to_fetch(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """What is read before answering is what was selected, and nothing can be."""
    spec = content.spec
    is_fetched = spec.widget_data is WidgetDataMode.FETCH and spec.features & WIDGET_FEATURES
    if is_fetched and _SELECT not in spec.features:
        sentence = _(
            "Selected widgets are read before answering, but users can't select any. Turn "
            "“Selected widgets” on, or let the model ask."
        )
        yield warning("features", sentence)


@Check
def no_documents(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Places in documents are cited, but no document can come."""
    if content.spec.citations is CitationMode.DOCUMENTS and not _gets_files(content.spec):
        sentence = _(
            "Document passages are cited, but the copilot gets no documents. Turn “Files” on, or "
            "let it read widgets."
        )
        yield warning("citations", sentence)


@Check
def no_pictures(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The model may look at pictures, but none can come."""
    spec = content.spec
    if spec.sees_images and not _gets_files(spec) and not spec.read_links:
        sentence = _("The model can see images, but the copilot gets none. Turn “Files” on.")
        yield warning("images", sentence)


@Check
def steps_never_shown(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Fixed steps that are not shown."""
    spec = content.spec
    if spec.steps and not spec.show_steps:
        sentence = _("Fixed steps are set, but steps are not shown.")
        yield warning("steps", sentence)
    elif not reads_widgets(spec) and any(
        step.at in (StepPlace.FETCH, StepPlace.READ) for step in spec.steps
    ):
        sentence = _("Some fixed steps are shown while data is read, but the copilot reads none.")
        yield warning("steps", sentence)


@Check
def reasoning_never_shown(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Reasoning is shown as steps, and steps are not."""
    if content.spec.reasoning_steps and not content.spec.show_steps:
        sentence = _("Reasoning is shown as a step, but steps are not shown.")
        yield warning("reasoning_steps", sentence)


@Check
def data_messages_without_data(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Data that is to be sent as notes, and never comes."""
    spec = content.spec
    if spec.data_messages.results and not reads_widgets(spec):
        sentence = _("Widget data is sent as context data, but the copilot reads no widgets.")
        yield warning("data_messages", sentence)
    if spec.data_messages.options and not spec.custom_features:
        sentence = _("Chat options are sent as context data, but there is no control.")
        yield warning("data_messages", sentence)


def reads_widgets(spec: CopilotSpec) -> bool:
    """Whether the data of any widget can reach the copilot."""
    return spec.widget_data is not WidgetDataMode.OFF and bool(spec.features & WIDGET_FEATURES)


def _gets_files(spec: CopilotSpec) -> bool:
    return spec.has(FILES) or reads_widgets(spec)
