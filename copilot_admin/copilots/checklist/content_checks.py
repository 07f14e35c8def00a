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
    DraftContent,
    DraftFacts,
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


def unread_widgets(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report widgets that users can choose and the copilot never reads."""
    spec = content.spec
    if spec.widget_data is WidgetDataMode.OFF and spec.features & _WIDGET_FEATURES:
        sentence = _(
            "Users can choose widgets, but the copilot never reads them. Let it read widgets, or "
            "turn the widget features off."
        )
        yield warning("widget_data", sentence)


def missing_widget_feature(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that the copilot would read widgets that Workspace never sends."""
    spec = content.spec
    if spec.widget_data is WidgetDataMode.OFF:
        return
    if not spec.features & _WIDGET_FEATURES:
        sentence = _(
            "The copilot reads widgets, but no widget feature is on. Turn one on, or set reading "
            "widgets to “Never”."
        )
        yield warning("features", sentence)
    elif spec.widget_data is WidgetDataMode.FETCH and _SELECT not in spec.features:
        sentence = _(
            "Selected widgets are read before answering, but users can't select any. Turn "
            "“Selected widgets” on, or let the model ask."
        )
        yield warning("features", sentence)


def missing_documents(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report citations of documents, or vision, for a copilot that gets no files."""
    spec = content.spec
    if spec.has("file-upload") or _reads_widgets(spec):
        return
    if spec.citations is CitationMode.DOCUMENTS:
        sentence = _(
            "Document passages are cited, but the copilot gets no documents. Turn “Files” on, or "
            "let it read widgets."
        )
        yield warning("citations", sentence)
    if spec.sees_images and not spec.read_links:
        sentence = _("The model can see images, but the copilot gets none. Turn “Files” on.")
        yield warning("images", sentence)


def hidden_steps(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report steps that are never shown."""
    spec = content.spec
    if spec.steps and not spec.show_steps:
        yield warning("steps", _("Fixed steps are set, but steps are not shown."))
    elif not _reads_widgets(spec) and any(
        step.at in (StepPlace.FETCH, StepPlace.READ) for step in spec.steps
    ):
        sentence = _("Some fixed steps are shown while data is read, but the copilot reads none.")
        yield warning("steps", sentence)
    if spec.reasoning_steps and not spec.show_steps:
        sentence = _("Reasoning is shown as a step, but steps are not shown.")
        yield warning("reasoning_steps", sentence)


def empty_data_messages(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report context data that is never sent."""
    spec = content.spec
    if spec.data_messages.results and not _reads_widgets(spec):
        sentence = _("Widget data is sent as context data, but the copilot reads no widgets.")
        yield warning("data_messages", sentence)
    if spec.data_messages.options and not spec.custom_features:
        sentence = _("Chat options are sent as context data, but there is no control.")
        yield warning("data_messages", sentence)


def unknown_tool(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report tools and components that this release doesn't have, or that share a name."""
    spec = content.spec
    for name in sorted(set(spec.tools) - set(tool_names())):
        sentence = _("There is no tool named '%(name)s'. Turn it off.")
        yield error("tools", sentence % {"name": name})
    for use in spec.components:
        if not registry().find(use.name, use.version):
            sentence = _("There is no component '%(name)s'. Turn it off.")
            yield error("components", sentence % {"name": use.pin})
        elif use.name in reserved_tool_names(spec):
            sentence = _("The component '%(name)s' has the name of a tool. Turn one of them off.")
            yield error("components", sentence % {"name": use.name})


def unsupported_tools(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report tools for models that are documented not to call any."""
    spec = content.spec
    field = _find_tool_field(spec)
    if not field or spec.provider.tool_calling is ToolCalling.TEXT:
        return
    for model in filter(takes_no_tools, models_of(spec)):
        sentence = _(
            "The model “%(model)s” doesn't support tool calls. Choose another model, or a provider "
            "with text tool calls."
        )
        yield warning(field, sentence % {"model": model})


def unused_settings(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report settings that only matter with tools or components that are off."""
    spec = content.spec
    if spec.html_sources and "html" not in spec.tools and not spec.has("generative-ui"):
        sentence = _("Image sources for HTML are set, but no tool creates HTML.")
        yield warning("html_sources", sentence)
    if spec.stream_all_text and not spec.components:
        sentence = _("Results of built-in tools are shown, but no built-in tool is on.")
        yield warning("stream_all_text", sentence)
    for limit in spec.client_call_limits:
        if limit.most > spec.max_client_calls:
            sentence = _(
                "“%(function)s” allows %(most)d calls, but the total limit is %(all)d calls."
            )
            words = {"function": limit.function, "most": limit.most, "all": spec.max_client_calls}
            yield warning("client_call_limits", sentence % words)


def unused_option(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report custom options that nothing depends on."""
    spec = content.spec
    if spec.data_messages.options:
        return  # the model sees the options as context data
    used = used_placeholders(spec.system_prompt)
    for feature in spec.custom_features:
        name = f"options.{feature.key}"
        if not feature.model and used.isdisjoint({name, f"{name}.state"}):
            sentence = _(
                "Nothing uses the control “%(label)s”. Add {{ %(name)s }} to the prompt, or remove "
                "the control."
            )
            yield warning("custom_features", sentence % {"label": feature.label, "name": name})


def confusing_option(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report selects with one choice, and custom options with the same label."""
    features = content.spec.custom_features
    for feature in features:
        if feature.type is CustomFeatureType.SELECT and len(feature.options) == 1:
            sentence = _("The control “%(label)s” has only one option. Add another.")
            yield warning("custom_features", sentence % {"label": feature.label})
    for label, count in Counter(one.label.strip() for one in features).items():
        if count > 1:
            sentence = _("%(count)d controls are named “%(label)s”. Rename them.")
            yield warning("custom_features", sentence % {"count": count, "label": label})


def missing_image(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report an image of which this server has no file."""
    if not content.image or facts.has_image:
        return
    if "://" not in content.image:
        yield warning("image", _("The uploaded image is missing. Upload it again."))
    else:
        sentence = _(
            "This server has no copy of the image, so Workspace loads it from its URL. Save the "
            "draft again, or upload the image."
        )
        yield warning("image", sentence)


def description_length(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a description that is missing, or longer than a card shows."""
    length = len(content.spec.description.strip())
    if not length:
        sentence = _("The description is empty. Add one so that users see what the copilot does.")
        yield warning("description", sentence)
    elif length > _MAX_DESCRIPTION_LENGTH:
        sentence = _("The description has %(length)d characters. Workspace shows about %(most)d.")
        words = {"length": length, "most": _MAX_DESCRIPTION_LENGTH}
        yield warning("description", sentence % words)


def starter_questions(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report starter questions that repeat, or that are longer than a card shows."""
    counts = Counter(" ".join(text.casefold().split()) for text in content.starters)
    for text, count in counts.items():
        if count > 1:
            sentence = _("The starter question “%(text)s” occurs more than once.")
            yield warning("starters", sentence % {"text": shorten(text)})
    for text in dict.fromkeys(content.starters):
        if len(text) > _MAX_STARTER_LENGTH:
            sentence = _(
                "The starter question “%(text)s” has %(length)d characters. Workspace shows "
                "about %(most)d."
            )
            words = {"text": shorten(text), "length": len(text), "most": _MAX_STARTER_LENGTH}
            yield warning("starters", sentence % words)


def unreachable(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a copilot that is disabled, or that requires a key while there is none."""
    if not facts.enabled:
        yield warning("enabled", _("The copilot is disabled. Enable it so that users can see it."))
    if facts.access is Access.KEY and not facts.keys:
        sentence = _(
            "An API key is required, and no valid key exists. Create a key, or change who can use "
            "the copilot."
        )
        yield warning("access", sentence)


def failed_tests(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that the draft passes fewer tests than required."""
    tests = facts.tests
    if tests is None or tests.is_reached:
        return
    sentence = _(
        "%(passed)d of %(total)d tests passed on the current draft; %(percent)d%% are required. "
        "Run the tests and fix what fails."
    ) % {"passed": tests.passed, "total": tests.total, "percent": tests.min_percent}
    report = error if tests.is_blocking else warning
    yield report("system_prompt", sentence)


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
