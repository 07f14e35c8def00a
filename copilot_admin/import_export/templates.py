"""The built-in templates: one file per ready-made copilot.

A file has a `summary` and a `copilot`: an entry of a copilot file without slug, provider and model,
which are set when a copilot is made from it. `icon` and `group` place it in the gallery, `sample` is
an example answer, `needs` lists requirements that its switches don't tell.
"""

import base64
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, Field

from copilot_admin.agent.values.spec import WidgetDataMode
from copilot_admin.copilots.checklist.known_models import pick_chat_model
from copilot_admin.copilots.names import free_name, free_slug
from copilot_admin.copilots.providers import key_problem
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.formats import load
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Copilot, Provider

_PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = _PACKAGE / "samples" / "templates"
PICTURES = "copilot_admin/img/templates"  # under `static`
DEMO = "demo"  # the kind of the demo provider, and its only model
_NEEDS: Mapping[str, str | Promise] = {
    "widget-dashboard-select": gettext_lazy("Widgets selected with @"),
    "widget-dashboard-search": gettext_lazy("Widgets of the open dashboard"),
    "widget-global-search": gettext_lazy("All widgets of the workspace"),
    "file-upload": gettext_lazy("Attached files"),
    "generative-ui": gettext_lazy("Permission to edit the dashboard"),
    "mcp-tools": gettext_lazy("Connected MCP servers"),
    "agent-orchestration": gettext_lazy("Other agents of the workspace"),
}


class TemplateGroup(StrEnum):
    JOBS = "jobs"
    EXAMPLES = "examples"  # each shows one capability of the protocol


class SampleAnswer(BaseModel, frozen=True):
    """An example answer in Markdown; a chart has `chart_params` and `rows`."""

    question: str
    answer: str
    chart: dict[str, Any] = {}


class Template(BaseModel, frozen=True):
    slug: str
    summary: str
    entry: dict[str, Any] = Field(alias="copilot")  # without slug, provider and model
    switched_model: str = ""  # key of the custom option that switches to another model
    model_picker: bool = False  # users choose among models named when the copy is made
    icon: str = "copilot"  # of the icon sprite, where the template has no picture
    group: TemplateGroup = TemplateGroup.EXAMPLES
    more_needs: tuple[str, ...] = Field((), alias="needs")  # that its switches don't tell
    sample: SampleAnswer | None = None

    @property
    def name(self) -> str:
        return str(self.entry["name"])

    @property
    def starters(self) -> tuple[str, ...]:
        return tuple(self.entry.get("starters", ()))

    @property
    def picture(self) -> str:
        name = f"{PICTURES}/{self.slug}.png"
        return name if (_PACKAGE / "static" / name).exists() else ""

    @property
    def needs(self) -> list[str]:
        """Return what it works with, from its switches."""
        reads_widgets = self.entry.get("widget_data") != WidgetDataMode.OFF
        features: Mapping[str, Any] = self.entry.get("features", {})
        on = [key for key in _NEEDS if features.get(key) is True]
        found = [str(_NEEDS[key]) for key in on if reads_widgets or not key.startswith("widget-")]
        if options := [str(row["label"]) for row in self.entry.get("custom_features", ())]:
            found.append(_("Chat options: %(names)s") % {"names": ", ".join(options)})
        if self.model_picker:
            found.append(_("More models to choose from"))
        if self.switched_model:
            found.append(_("A second model, for example one with web search"))
        return [*found, *self.more_needs]


@cache
def templates() -> Mapping[str, Template]:
    files = {path.stem: load(path.read_bytes()) for path in sorted(FOLDER.glob("*.yaml"))}
    return {slug: Template(slug=slug, **values) for slug, values in files.items()}


def template_named(slug: str) -> Template:
    """Return the template with a slug; raises `ConfigurationError` if there is none."""
    found = templates().get(slug)
    if found is None:
        sentence = _("There is no template '%(slug)s'. Templates: %(names)s.")
        raise ConfigurationError(sentence % {"slug": slug, "names": ", ".join(templates())})
    return found


def make_copilot(
    template: Template,
    *,
    access: str,
    slug: str = "",
    provider: Provider | None = None,
    model: str = "",
    switched_model: str = "",
    switched_provider: str = "",
    other_models: Sequence[str] = (),
    publishing: bool = False,
    user: User | None = None,
) -> Copilot:
    """Make a copilot from a template; slug, provider and model have usable defaults.

    `switched_model` answers while the template's option is on, by default of the same provider;
    `other_models` are those of its picker.
    """
    with transaction.atomic():
        if slug and Copilot.objects.filter(slug=slug).exists():
            sentence = _("The slug '%(slug)s' is taken. Choose another.")
            raise ConfigurationError(sentence % {"slug": slug})
        slug = slug or free_slug(template.slug)
        provider = provider or find_default_provider()
        model = model or find_default_model(provider)
        if not model:
            sentence = _("Name a model of the provider '%(name)s'.")
            raise ConfigurationError(sentence % {"name": provider.name})
        entry = {
            "image": _read_picture(template),
            **template.entry,
            "slug": slug,
            "name": free_name(template.name, Copilot),
            "provider": provider.name,
            "model": model,
            "custom_features": _add_model(template, switched_model, switched_provider),
        }
        if template.model_picker:
            entry["models"] = [{"id": one} for one in dict.fromkeys((model, *other_models))]
        file: dict[str, Any] = {"format": 1, "copilots": [entry]}
        import_values(file, default_access=access, publishing=publishing, user=user)
    return Copilot.objects.get(slug=slug)


def find_default_provider() -> Provider:
    """Return the newest provider with a key and a known chat model, else the demo."""
    providers = [one for one in Provider.objects.order_by("-pk") if not key_problem(one)]
    real = (one for one in providers if one.kind != DEMO and find_default_model(one))
    demo = (one for one in reversed(providers) if one.kind == DEMO)
    found = next(real, None) or next(demo, None)
    return found or Provider.objects.create(name=free_name("Demo model", Provider), kind=DEMO)


def find_default_model(provider: Provider) -> str:
    """Return the model last used with a provider, else one that most likely chats."""
    if provider.kind == DEMO:
        return DEMO
    drafts = Copilot.objects.filter(provider=provider).order_by("-updated_at")
    used = drafts.exclude(model="").values_list("model", flat=True).first()
    return used or pick_chat_model(provider.model_ids)


def _read_picture(template: Template) -> str:
    if not template.picture:
        return ""
    data = (_PACKAGE / "static" / template.picture).read_bytes()
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"


def _add_model(template: Template, model: str, provider: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = list(template.entry.get("custom_features", ()))
    if not model:
        return rows
    given = {"model": model, "provider": provider} if provider else {"model": model}
    return [{**row, **given} if row["key"] == template.switched_model else row for row in rows]
