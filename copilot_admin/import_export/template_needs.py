"""What a template wants of whoever asks it, in words: read off its switches, so that it is true."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.agent.values.spec import WidgetDataMode
from copilot_admin.import_export.templates import Template

_OF_FEATURES: Mapping[str, str | Promise] = {
    "widget-dashboard-select": gettext_lazy("Widgets that the user selects with @"),
    "widget-dashboard-search": gettext_lazy("The widgets of the open dashboard"),
    "widget-global-search": gettext_lazy("All widgets that the user may see"),
    "file-upload": gettext_lazy("Files that the user attaches"),
    "generative-ui": gettext_lazy("Leave to change the dashboard, where that is asked"),
    "mcp-tools": gettext_lazy("MCP servers that the user has connected"),
    "agent-orchestration": gettext_lazy("Other agents in the workspace"),
}
_READ_BY_FEATURES = frozenset(key for key in _OF_FEATURES if key.startswith("widget-"))


def needs_of(template: Template) -> tuple[str, ...]:
    return tuple(map(str, _needs(template)))


def _needs(template: Template) -> Iterator[str | Promise]:
    entry = template.entry
    reads_widgets = entry.get("widget_data", WidgetDataMode.ASK) != WidgetDataMode.OFF
    features: Mapping[str, Any] = entry.get("features", {})
    for key, words in _OF_FEATURES.items():
        if features.get(key) is True and (reads_widgets or key not in _READ_BY_FEATURES):
            yield words
    controls = [str(row["label"]) for row in entry.get("custom_features", ())]
    if controls:
        yield _("Options in the chat: %(names)s") % {"names": ", ".join(controls)}
    if template.model_picker:
        yield _("More models to choose from")
    if template.switched_model:
        yield _("A second model, such as one that searches the web")
    yield from template.more_needs
