"""The built-in templates: copilots that somebody makes a copy of; one file each.

A file has a `summary`, and a `copilot`: an entry of a copilot file without slug, provider and model,
which are chosen when a copilot is made of it. `icon` and `group` say how and where the gallery shows
it, `sample` what an answer looks like, and `needs` what it wants besides what its switches say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, cast

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.copilots.providers import has_key
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.importing import import_values
from copilot_admin.import_export.loading import load
from copilot_admin.models import Copilot, Provider

FOLDER = Path(__file__).resolve().parent.parent / "samples" / "templates"
REHEARSAL = "rehearsal"  # the kind of the provider that needs nothing, and its one model


class UnusableTemplate(ConfigurationError):
    """No copilot can be made like this; the text says what would do."""


class TemplateGroup(StrEnum):
    """Where the gallery shows a template."""

    READS = "reads"  # what the user has: widgets, files
    SHOWS = "shows"  # answers in a form of their own
    WORKS = "works"  # with options, tools and skills, or without anything


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAnswer:
    """What an answer looks like.

    Attributes:
        answer: Markdown.
        chart: `chart_params` and `rows` of a chart that stands in it; empty: there is none.
    """

    question: str
    answer: str
    chart: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A copilot to copy.

    Attributes:
        switched_model: The key of the control that lets another model answer, which whoever
            copies it names; empty: there is none.
        icon: A name of the sprite `templates/admin/includes/icons.html`.
        more_needs: What it wants of the client that no switch of it says.
        model_picker: Users choose the model, among those that whoever copies it names.
    """

    slug: str
    summary: str
    entry: Mapping[str, Any]
    switched_model: str = ""
    model_picker: bool = False
    icon: str = "copilot"
    group: TemplateGroup = TemplateGroup.WORKS
    more_needs: tuple[str, ...] = ()
    sample: SampleAnswer | None = None

    @property
    def name(self) -> str:
        """The name that copilots get which are made of it."""
        return str(self.entry["name"])

    @property
    def starters(self) -> tuple[str, ...]:
        """Questions to try it with."""
        return tuple(self.entry.get("starters", ()))


@dataclass(frozen=True, slots=True)
class Switched:
    """The model that answers while a control is on, and the name of its provider.

    An empty name is the copilot's own provider.
    """

    model: str
    provider: str = ""


@cache
def templates() -> Mapping[str, Template]:
    """All templates by slug, in alphabetical order."""
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def template_named(slug: str) -> Template:
    """The template with a slug.

    Raises:
        UnusableTemplate: There is none of this name.
    """
    found = templates().get(slug)
    if found is None:
        names = ", ".join(templates())
        sentence = _("There is no template '%(slug)s'. The templates: %(names)s.")
        raise UnusableTemplate(sentence % {"slug": slug, "names": names})
    return found


def make_copilot(
    template: Template,
    *,
    slug: str,
    access: str,
    provider: Provider | None = None,
    model: str = "",
    switched: Switched | None = None,
    other_models: Sequence[str] = (),
    publishing: bool = False,
    user: AbstractBaseUser | None = None,
) -> Copilot:
    """Makes a copilot of a template.

    Args:
        template: What is copied.
        slug: Of the new copilot.
        access: Who may ask it.
        provider: Default: the only one there is, else the demo model.
        model: Default: the one of the demo model.
        switched: What answers while the template's control is on; None: decided later.
        other_models: That users may choose besides `model`, where the template has a picker.
        publishing: Whether it answers at once.
        user: Who makes it; None for a command.

    Raises:
        UnusableTemplate: The slug is taken, or a model has to be named.
        BadCopilotFile: The slug is none.
    """
    with transaction.atomic():
        if Copilot.objects.filter(slug=slug).exists():
            sentence = _("The slug '%(slug)s' is taken. Choose another.")
            raise UnusableTemplate(sentence % {"slug": slug})
        provider = provider or usual_provider()
        model = model or _usual_model(provider)
        entry = {
            **template.entry,
            "slug": slug,
            "name": _free_name(template.name),
            "provider": provider.name,
            "model": model,
            "custom_features": _controls(template, switched),
            **_picker(template, model, other_models),
        }
        file: dict[str, Any] = {"format": 1, "copilots": [entry]}
        import_values(file, default_access=access, publishing=publishing, user=user)
    return Copilot.objects.get(slug=slug)


def _controls(template: Template, switched: Switched | None) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = list(template.entry.get("custom_features", ()))
    if switched is None:
        return rows
    more = {"model": switched.model, "provider": switched.provider}
    given = {key: value for key, value in more.items() if value}
    return [{**row, **given} if row["key"] == template.switched_model else row for row in rows]


def _picker(template: Template, model: str, others: Sequence[str]) -> Mapping[str, Any]:
    if not template.model_picker:
        return {}
    return {"models": [{"id": one} for one in dict.fromkeys((model, *others))]}


def _free_name(wanted: str) -> str:
    taken = {name.lower() for name in Copilot.objects.values_list("name", flat=True)}
    return wanted if wanted.lower() not in taken else _numbered(f"{wanted} ", taken)


def _numbered(start: str, taken: set[str]) -> str:
    return next(
        f"{start}{number}" for number in count(2) if f"{start}{number}".lower() not in taken
    )


def usual_provider() -> Provider:
    """The only provider there is, else the demo model, which is made if need be."""
    providers = list(Provider.objects.order_by("pk"))
    if len(providers) == 1:
        return providers[0]
    rehearsing = (one for one in providers if one.kind == REHEARSAL and has_key(one))
    return next(rehearsing, None) or _rehearsal(taken={one.name for one in providers})


def _rehearsal(*, taken: set[str]) -> Provider:
    wanted = "Demo model"
    name = wanted if wanted not in taken else _numbered(f"{wanted} ", set(map(str.lower, taken)))
    return Provider.objects.create(name=name, kind=REHEARSAL)


def _usual_model(provider: Provider) -> str:
    if provider.kind == REHEARSAL:
        return REHEARSAL
    sentence = _("Name a model of the provider '%(name)s'.")
    raise UnusableTemplate(sentence % {"name": provider.name})


def _read(path: Path) -> Template:
    values = cast("Mapping[str, Any]", load(path.read_bytes()))
    return Template(
        slug=path.stem,
        summary=str(values["summary"]),
        entry=values["copilot"],
        switched_model=str(values.get("switched_model", "")),
        model_picker=values.get("model_picker") is True,
        icon=str(values.get("icon", "copilot")),
        group=TemplateGroup(values.get("group", TemplateGroup.WORKS)),
        more_needs=tuple(values.get("needs", ())),
        sample=_sample(values.get("sample")),
    )


def _sample(values: Mapping[str, Any] | None) -> SampleAnswer | None:
    if values is None:
        return None
    return SampleAnswer(
        question=str(values["question"]),
        answer=str(values["answer"]),
        chart=values.get("chart", {}),
    )
