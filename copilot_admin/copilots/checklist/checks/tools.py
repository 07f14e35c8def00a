"""What can be wrong with tools and components: that there are none, or that no model calls them."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.server_tools import taken_names
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.agent.values.spec import CopilotSpec, ToolCalling, WidgetDataMode
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.checks.workspace import reads_widgets
from copilot_admin.copilots.checklist.finding import Finding, error, warning
from copilot_admin.copilots.checklist.known_models import models_of, takes_no_tools
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts

# What the model does in Workspace it does by calling tools; to the keys of features.
_CALLED = ("generative-ui", "mcp-tools", "agent-orchestration")
_HTML = "html"


@Check
def unknown_tool(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A tool that this release does not have."""
    for name in sorted(set(content.spec.tools) - set(tool_names())):
        sentence = _("There is no tool named '%(name)s'. Turn it off.")
        yield error("tools", sentence % {"name": name})


@Check
def unknown_component(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A component of another release, or one with the name of a tool."""
    spec = content.spec
    for use in spec.components:
        if not registry().find(use.name, use.version):
            sentence = _("There is no component '%(name)s'. Turn it off.")
            yield error("components", sentence % {"name": use.pin})
        elif use.name in taken_names(spec):
            sentence = _("The component '%(name)s' has the name of a tool. Turn one of them off.")
            yield error("components", sentence % {"name": use.name})


@Check
def nobody_calls(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Tools for a model that is documented to call none."""
    spec = content.spec
    field = _first_with_tools(spec)
    if not field or spec.provider.tool_calling is ToolCalling.TEXT:
        return
    for model in filter(takes_no_tools, models_of(spec)):
        sentence = _(
            "The model “%(model)s” doesn't support tool calls. Choose another model, or a provider "
            "with text tool calls."
        )
        yield warning(field, sentence % {"model": model})


@Check
def sources_of_nothing(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Addresses of images in HTML that the copilot cannot show."""
    spec = content.spec
    if spec.html_sources and _HTML not in spec.tools and not spec.has("generative-ui"):
        sentence = _("Image sources for HTML are set, but no tool creates HTML.")
        yield warning("html_sources", sentence)


@Check
def results_of_nothing(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Results of components are shown, and there is none."""
    if content.spec.stream_all_text and not content.spec.components:
        sentence = _("Results of built-in tools are shown, but no built-in tool is on.")
        yield warning("stream_all_text", sentence)


def _first_with_tools(spec: CopilotSpec) -> str:
    if spec.widget_data is WidgetDataMode.ASK and reads_widgets(spec):
        return "widget_data"
    if spec.tools:
        return "tools"
    if spec.components:
        return "components"
    return "features" if spec.features & set(_CALLED) else ""
