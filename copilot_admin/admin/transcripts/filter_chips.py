"""Filter chips above the list of conversations, and the menu that adds one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django_filters import DateFilter

from copilot_admin.transcripts.filters import (
    FILTERS,
    Label,
    SelectFilter,
    TranscriptFilters,
    TypedFilter,
)

EDIT = "edit"  # parameter: the filter whose chip is open
ALWAYS_SHOWN = "days"
MAX_OPTIONS = 200  # of a menu or a list of suggestions
GROUPS: Sequence[tuple[Label, Sequence[str]]] = (
    (_("Copilot"), ("copilot", "tag", "version", "model", "provider", "playground")),
    (_("Caller"), ("user", "caller")),
    (_("Time"), ("days", "since", "until")),
    (_("Answer"), ("outcome", "error", "call", "branch", "file", "ttft-from", "ttft-to")),
    (
        _("Feedback and review"),
        ("judged", "reason", "state", "verdict", "label", "assigned", "queue"),
    ),
    (_("Cost"), ("tokens-from", "tokens-to", "cost-from", "cost-to", "unpriced")),
)


def build_chips(
    filters: TranscriptFilters, params: Mapping[str, str], *, suggests_users: bool
) -> list[dict[str, Any]]:
    """Return the chips of the filters that are set, of the period, and of the one being edited."""
    opened = params.get(EDIT, "")
    wanted = {ALWAYS_SHOWN, opened, *filters.data}
    if filters.data.get("since") or filters.data.get("until"):
        wanted.discard(ALWAYS_SHOWN)
    silent = () if suggests_users else ("user",)
    return [
        _build_chip(name, filters, params, has_suggestions=name not in silent)
        for name in FILTERS
        if name in wanted
    ]


def build_filter_menu(
    filters: TranscriptFilters, params: Mapping[str, str]
) -> list[tuple[Label, list[tuple[Label, str]]]]:
    """Return label and URL of the filters that aren't set, by group; those in no group come last."""
    grouped = {ALWAYS_SHOWN, "ids", *(name for _group, names in GROUPS for name in names)}
    others = tuple(name for name in FILTERS if name not in grouped)
    return [
        (
            group,
            [
                (FILTERS[name].label, list_url(params, **{EDIT: name}))
                for name in names
                if name not in filters.data and name != ALWAYS_SHOWN
            ],
        )
        for group, names in (*GROUPS, (_("Other"), others))
    ]


def _build_chip(
    name: str, filters: TranscriptFilters, params: Mapping[str, str], *, has_suggestions: bool
) -> dict[str, Any]:
    kind, value = FILTERS[name], filters.data.get(name, "")
    choices: Iterable[tuple[str, Label]] = ()
    if isinstance(kind, TypedFilter) and has_suggestions:
        choices = kind.field.choices()
    listed = list(islice(choices, MAX_OPTIONS))
    labels = dict(listed)
    empty = {"days": _("All time"), "playground": _("Exclude")}.get(name, "")
    error = " ".join(filters.errors.get(name, []))
    if name == "ids":
        shown: Label = str(len(value.split(",")))
    elif isinstance(kind, DateFilter) and value and not error:
        shown = date_format(filters.form.cleaned_data[name], "j M Y")
    else:
        shown = labels.get(value, value) or empty
    return {
        "name": name,
        "label": kind.label,
        "control": _control(kind),
        "value": value,
        "shown": shown,
        "hint": kind.field.hint if isinstance(kind, TypedFilter) else "",
        "error": error,
        # Value, label and URL of those of a menu, or of suggestions for a text.
        "options": [(one, label, list_url(params, **{name: one})) for one, label in listed],
        "remove_url": list_url(params, **{name: ""}) if value else "",
        "is_open": params.get(EDIT) == name,
    }


def list_url(params: Mapping[str, str], **changes: str) -> str:
    """Return the query string of the first page with changed parameters."""
    kept = {**params, EDIT: "", "after": "", "before": "", **changes}
    return "?" + urlencode({name: value for name, value in kept.items() if value})


def _control(kind: object) -> str:
    if isinstance(kind, SelectFilter):
        return "menu"
    if isinstance(kind, TypedFilter):
        return "text"
    return "date" if isinstance(kind, DateFilter) else "number"
