"""Checks of Workspace features, tools, options, presentation, access and tests."""

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.prompt.placeholders import used_placeholders
from copilot_admin.agent.server_tools import reserved_tool_names
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.agent.values.spec import (
    CitationMode,
    CopilotSpec,
    StepPlace,
    ToolCalling,
    WidgetDataMode,
)
from copilot_admin.copilots.checklist.findings import (
    FAILED_TESTS,
    CheckedDraft,
    Finding,
    error,
    warning,
)
from copilot_admin.copilots.checklist.known_models import models_of, takes_no_tools
from copilot_admin.copilots.checklist.model_checks import shorten
from copilot_admin.models import Access
from protocol.features import CustomFeatureType

_SELECT = "widget-dashboard-select"
_WIDGET_FEATURES = frozenset({_SELECT, "widget-dashboard-search", "widget-global-search"})
# Features in which the model acts by calling tools.
_TOOL_FEATURES = frozenset({"generative-ui", "mcp-tools", "agent-orchestration"})
# A card in Workspace shows some lines; descriptions in its examples have less than 120 characters.
_MAX_DESCRIPTION_LENGTH = 250
_MAX_STARTER_LENGTH = 120


def check_widgets_and_files(draft: CheckedDraft) -> Iterator[Finding]:
    """Report data that is offered and never read, or read and never sent."""
    spec, has_widgets = draft.spec, bool(draft.spec.features & _WIDGET_FEATURES)
    if spec.widget_data is WidgetDataMode.OFF and has_widgets:
        sentence = _(
            "Users can choose widgets, but the copilot never reads them. Let it read widgets, or "
            "turn the widget features off."
        )
        yield warning("unread_widgets", "widget_data", sentence)
    elif spec.widget_data is not WidgetDataMode.OFF and not has_widgets:
        sentence = _(
            "The copilot reads widgets, but no widget feature is on. Turn one on, or set reading "
            "widgets to “Never”."
        )
        yield warning("missing_widget_feature", "features", sentence)
    elif spec.widget_data is WidgetDataMode.FETCH and _SELECT not in spec.features:
        sentence = _(
            "Selected widgets are read before answering, but users can't select any. Turn "
            "“Selected widgets” on, or let the model ask."
        )
        yield warning("missing_widget_feature", "features", sentence)
    if spec.has("file-upload") or _reads_widgets(spec):
        return
    if spec.citations is CitationMode.DOCUMENTS:
        sentence = _(
            "Document passages are cited, but the copilot gets no documents. Turn “Files” on, or "
            "let it read widgets."
        )
        yield warning("missing_documents", "citations", sentence)
    if spec.sees_images and not spec.read_links:
        sentence = _("The model can see images, but the copilot gets none. Turn “Files” on.")
        yield warning("missing_documents", "images", sentence)


def check_steps_and_data_messages(draft: CheckedDraft) -> Iterator[Finding]:
    """Report steps and context data that are never shown or sent."""
    spec, reads_widgets = draft.spec, _reads_widgets(draft.spec)
    if spec.steps and not spec.show_steps:
        sentence = _("Fixed steps are set, but steps are not shown.")
        yield warning("hidden_steps", "steps", sentence)
    elif not reads_widgets and any(
        step.at in (StepPlace.FETCH, StepPlace.READ) for step in spec.steps
    ):
        sentence = _("Some fixed steps are shown while data is read, but the copilot reads none.")
        yield warning("hidden_steps", "steps", sentence)
    if spec.reasoning_steps and not spec.show_steps:
        sentence = _("Reasoning is shown as a step, but steps are not shown.")
        yield warning("hidden_steps", "reasoning_steps", sentence)
    if spec.data_messages.results and not reads_widgets:
        sentence = _("Widget data is sent as context data, but the copilot reads no widgets.")
        yield warning("empty_data_messages", "data_messages", sentence)
    if spec.data_messages.options and not spec.custom_features:
        sentence = _("Chat options are sent as context data, but there is no control.")
        yield warning("empty_data_messages", "data_messages", sentence)


def check_tools(draft: CheckedDraft) -> Iterator[Finding]:
    """Report tools that this release lacks, that share a name, or that the model can't call."""
    spec = draft.spec
    for name in sorted(set(spec.tools) - set(tool_names())):
        sentence = _("There is no tool named '%(name)s'. Turn it off.")
        yield error("unknown_tool", "tools", sentence % {"name": name})
    for use in spec.components:
        if not registry().find(use.name, use.version):
            sentence = _("There is no component '%(name)s'. Turn it off.")
            yield error("unknown_tool", "components", sentence % {"name": use.pin})
        elif use.name in reserved_tool_names(spec):
            sentence = _("The component '%(name)s' has the name of a tool. Turn one of them off.")
            yield error("unknown_tool", "components", sentence % {"name": use.name})
    field = _find_tool_field(spec)
    if not field or spec.provider.tool_calling is ToolCalling.TEXT:
        return
    for model in filter(takes_no_tools, models_of(spec)):
        sentence = _(
            "The model “%(model)s” doesn't support tool calls. Choose another model, or a provider "
            "with text tool calls."
        )
        yield warning("unsupported_tools", field, sentence % {"model": model})


def check_unused_settings(draft: CheckedDraft) -> Iterator[Finding]:
    """Report settings that only matter with tools or components that are off."""
    spec = draft.spec
    if spec.html_sources and "html" not in spec.tools and not spec.has("generative-ui"):
        sentence = _("Image sources for HTML are set, but no tool creates HTML.")
        yield warning("unused_settings", "html_sources", sentence)
    if spec.stream_all_text and not spec.components:
        sentence = _("Results of built-in tools are shown, but no built-in tool is on.")
        yield warning("unused_settings", "stream_all_text", sentence)
    for limit in spec.client_call_limits:
        if limit.most > spec.max_client_calls:
            sentence = _(
                "“%(function)s” allows %(most)d calls, but the total limit is %(all)d calls."
            )
            words = {"function": limit.function, "most": limit.most, "all": spec.max_client_calls}
            yield warning("unused_settings", "client_call_limits", sentence % words)


def check_custom_options(draft: CheckedDraft) -> Iterator[Finding]:
    """Report options that nothing depends on, that offer no choice, or that share a label."""
    spec = draft.spec
    used = used_placeholders(spec.system_prompt)
    for feature in spec.custom_features:
        name, words = f"options.{feature.key}", {"label": feature.label}
        is_used = feature.model or spec.data_messages.options  # which the model sees as data
        if not is_used and used.isdisjoint({name, f"{name}.state"}):
            sentence = _(
                "Nothing uses the control “%(label)s”. Add {{ %(name)s }} to the prompt, or remove "
                "the control."
            )
            yield warning("unused_option", "custom_features", sentence % {**words, "name": name})
        if feature.type is CustomFeatureType.SELECT and len(feature.options) == 1:
            sentence = _("The control “%(label)s” has only one option. Add another.")
            yield warning("confusing_option", "custom_features", sentence % words)
    for label, count in Counter(one.label.strip() for one in spec.custom_features).items():
        if count > 1:
            sentence = _("%(count)d controls are named “%(label)s”. Rename them.")
            values = {"count": count, "label": label}
            yield warning("confusing_option", "custom_features", sentence % values)


def check_presentation(draft: CheckedDraft) -> Iterator[Finding]:
    """Report image, description and starter questions that Workspace can't show well."""
    if draft.image and not draft.facts.has_image:
        sentence = _("The uploaded image is missing. Upload it again.")
        if "://" in draft.image:
            sentence = _(
                "This server has no copy of the image, so Workspace loads it from its URL. Save "
                "the draft again, or upload the image."
            )
        yield warning("missing_image", "image", sentence)
    length = len(draft.spec.description.strip())
    if not length:
        sentence = _("The description is empty. Add one so that users see what the copilot does.")
        yield warning("description_length", "description", sentence)
    elif length > _MAX_DESCRIPTION_LENGTH:
        sentence = _("The description has %(length)d characters. Workspace shows about %(most)d.")
        words: dict[str, object] = {"length": length, "most": _MAX_DESCRIPTION_LENGTH}
        yield warning("description_length", "description", sentence % words)
    counts = Counter(" ".join(text.casefold().split()) for text in draft.starters)
    for text in (text for text, count in counts.items() if count > 1):
        sentence = _("The starter question “%(text)s” occurs more than once.")
        yield warning("starter_questions", "starters", sentence % {"text": shorten(text)})
    for text in dict.fromkeys(draft.starters):
        if len(text) > _MAX_STARTER_LENGTH:
            sentence = _(
                "The starter question “%(text)s” has %(length)d characters. Workspace shows "
                "about %(most)d."
            )
            words = {"text": shorten(text), "length": len(text), "most": _MAX_STARTER_LENGTH}
            yield warning("starter_questions", "starters", sentence % words)


def check_access_and_tests(draft: CheckedDraft) -> Iterator[Finding]:
    """Report a copilot that nobody can use, or that passes fewer tests than required."""
    facts, tests = draft.facts, draft.facts.tests
    if not facts.enabled:
        sentence = _("The copilot is disabled. Enable it so that users can see it.")
        yield warning("unreachable", "enabled", sentence)
    if facts.access is Access.KEY and not facts.keys:
        sentence = _(
            "An API key is required, and no valid key exists. Create a key, or change who can use "
            "the copilot."
        )
        yield warning("unreachable", "access", sentence)
    if tests and not tests.is_reached:
        sentence = _(
            "%(passed)d of %(total)d tests passed on the current draft; %(percent)d%% are "
            "required. Run the tests and fix what fails."
        ) % {"passed": tests.passed, "total": tests.total, "percent": tests.min_percent}
        report = error if tests.is_blocking else warning
        yield report(FAILED_TESTS, "system_prompt", sentence)


def _reads_widgets(spec: CopilotSpec) -> bool:
    return spec.widget_data is not WidgetDataMode.OFF and bool(spec.features & _WIDGET_FEATURES)


def _find_tool_field(spec: CopilotSpec) -> str:
    if spec.widget_data is WidgetDataMode.ASK and _reads_widgets(spec):
        return "widget_data"
    if spec.tools:
        return "tools"
    if spec.components:
        return "components"
    return "features" if spec.features & _TOOL_FEATURES else ""
