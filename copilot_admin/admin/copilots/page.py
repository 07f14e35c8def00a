"""Page of a copilot: tabs and filters of the list."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.helpers import AdminForm, Fieldset
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.preview import preview_of, preview_of_form
from copilot_admin.admin.copilots.prompt import PromptWidget, option_placeholders
from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.config import fields_in
from copilot_admin.copilots.config_form import SECTIONS, Section
from copilot_admin.copilots.config_types import MAX_PROMPT_LENGTH
from copilot_admin.copilots.drafts import by_input, standing_of
from copilot_admin.copilots.publishing import checklist, document_of
from copilot_admin.copilots.standing import WORDS, CopilotState
from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList

    from copilot_admin.admin.copilots.views import CopilotViews
    from copilot_admin.models.copilots import CopilotQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class TabPart:
    """A section as the page draws it.

    Attributes:
        faults: How many things in it must be mended.
        is_open: Of a folded one: something in it is set or wrong.
    """

    fieldset: Fieldset
    is_folded: bool
    is_open: bool
    faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTab:
    """A tab as the page draws it."""

    key: str
    title: str | Promise
    parts: tuple[TabPart, ...]

    @property
    def faults(self) -> int:
        """How many things in it must be mended."""
        return sum(part.faults for part in self.parts)


def tabs_of(
    adminform: AdminForm, copilot: Copilot, problems: Mapping[str, tuple[str, ...]]
) -> tuple[PageTab, ...]:
    """Groups the sections of a form.

    Args:
        adminform: The form with its fieldsets; those of no section stand in no tab.
        copilot: The draft that the form shows.
        problems: What must be mended before publishing, under the name of the input.
    """
    drawn = {fieldset.name: fieldset for fieldset in adminform}  # type: ignore[attr-defined]  # it has
    found: dict[str, list[TabPart]] = {}
    titles = {section.tab.key: section.tab.title for section in SECTIONS}
    for section in SECTIONS:
        if section.title in drawn:
            fieldset = drawn[section.title]
            part = _part(section, fieldset, adminform.form, copilot, problems)
            found.setdefault(section.tab.key, []).append(part)
    return tuple(
        PageTab(key=key, title=titles[key], parts=tuple(parts)) for key, parts in found.items()
    )


def _part(
    section: Section,
    fieldset: Fieldset,
    form: BaseForm,
    copilot: Copilot,
    problems: Mapping[str, tuple[str, ...]],
) -> TabPart:
    names = tuple(_names(fieldset.fields))  # type: ignore[attr-defined]  # it has
    faults = sum(len(form.errors.get(name, ())) + len(problems.get(name, ())) for name in names)
    touched = form.is_bound and not set(names).isdisjoint(form.changed_data)
    return TabPart(
        fieldset=fieldset,
        is_folded=section.is_folded,
        is_open=section.is_folded and (bool(faults) or touched or _is_set(section, copilot)),
        faults=faults,
    )


def _is_set(section: Section, copilot: Copilot) -> bool:
    empty = Copilot()
    columns = (field.column for field in fields_in(section))
    return any(getattr(copilot, column) != getattr(empty, column) for column in columns)


def _names(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        elif isinstance(line, list | tuple):
            yield from _names(line)


def page_context(
    views: "CopilotViews",
    adminform: AdminForm,
    copilot: Copilot | None,
    user: Person,
) -> dict[str, Any]:
    """State, open problems, tabs, preview and the newest version for the template."""
    form = adminform.form
    context: dict[str, Any] = {
        "newest_version": copilot.versions.only("number").first() if copilot else None,
        "copilot": copilot,
    }
    if not isinstance(form, CopilotForm) or "system_prompt" not in form.fields:
        return context | {"told": find_changes({}, document_of(copilot)) if copilot else ()}
    findings = checklist(copilot) if copilot else ()
    open_problems = by_input(one for one in findings if one.is_error)
    image = views.image_of(copilot) if copilot else ""
    marked = {} if form.is_bound else open_problems
    _mark(form, marked)
    _offer_options(form)
    return context | {
        "longest_question": MAX_PROMPT_LENGTH,
        "warnings": checklist_of(findings).warnings,
        "tabs": tabs_of(adminform, form.instance, marked),
        "open_problems": sum(map(len, open_problems.values())),
        "loose_problems": [
            sentence
            for field, sentences in open_problems.items()
            if field not in form.fields
            for sentence in sentences
        ],
        "preview": (
            preview_of_form(form, image=image)
            if form.is_bound
            else preview_of(form.instance, image=image)
        ),
    }


def _mark(form: CopilotForm, problems: Any) -> None:
    for name, sentences in problems.items():
        if name in form.fields:
            form.fields[name].open_problems = sentences  # type: ignore[attr-defined]  # for the template


def _offer_options(form: CopilotForm) -> None:
    widget = form.fields["system_prompt"].widget
    if isinstance(widget, PromptWidget):
        widget.options = option_placeholders(form.instance.custom_features)


class StateFilter(admin.SimpleListFilter):
    """A filter of the list by state; what is in the archive is shown only where it is asked for.

    Whether a copilot is broken or changed is no column: it is asked of each. A server has some
    hundreds of copilots, so this stays a matter of milliseconds.
    """

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        states = [state for state in WORDS if state is not CopilotState.ARCHIVED]
        return [
            (state.value, str(WORDS[state].label)) for state in (*states, CopilotState.ARCHIVED)
        ]

    def choices(self, changelist: "ChangeList") -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("All but the archive")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Copilot]) -> QuerySet[Copilot]:
        wanted = self.value()
        if wanted == CopilotState.ARCHIVED:
            return queryset.exclude(archived_at=None)
        in_use = queryset.filter(archived_at=None)
        if wanted is None:
            return in_use
        rows = in_use.select_related("provider", "live", "live__provider")
        return in_use.filter(pk__in=[row.pk for row in rows if standing_of(row).state == wanted])


class TagFilter(admin.SimpleListFilter):
    """A filter of the list by tag."""

    title = _("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        in_archive = request.GET.get(StateFilter.parameter_name) == CopilotState.ARCHIVED
        rows = reachable(request.user).filter(archived_at__isnull=not in_archive)
        return [(found.tag, found.tag) for found in known_tags(rows)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Copilot]
    ) -> QuerySet[Copilot] | None:
        wanted = self.value()
        if wanted is None:
            return None
        return tagged(cast("CopilotQuerySet", queryset), wanted)
