"""The tabs of the form: which sections each holds, what is wrong in it, and what is unfolded."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.contrib.admin.helpers import AdminForm, Fieldset
from django.forms import BaseForm
from django.utils.functional import Promise

from copilot_admin.copilots.fields.draft_field import Section
from copilot_admin.copilots.fields.sections import SECTIONS
from copilot_admin.copilots.fields.table import in_section
from copilot_admin.models import Copilot


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
    columns = (field.column for field in in_section(section))
    return any(getattr(copilot, column) != getattr(empty, column) for column in columns)


def _names(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        elif isinstance(line, list | tuple):
            yield from _names(line)
