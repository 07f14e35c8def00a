"""Preview of a copilot as Workspace shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from django.utils.translation import gettext

from copilot_admin.admin.common.rows import RowForm, RowFormSet
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.agent.values.document import data_note
from copilot_admin.models import Copilot
from protocol.data import fold, render
from protocol.features import FEATURES


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Data of the preview. Incomplete rows are left out."""

    name: str
    description: str
    image: str
    features: frozenset[str]
    models: tuple[Mapping[str, Any], ...]  # `id` and `name`
    controls: tuple[Mapping[str, Any], ...]
    starters: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def feature_toggles(self) -> tuple[tuple[str, str], ...]:
        """Return key and label of the features that Workspace shows as switches."""
        return tuple(
            (feature.key, gettext(feature.as_toggle))
            for feature in FEATURES
            if feature.as_toggle and feature.key in self.features
        )


def preview_of(copilot: Copilot, *, image: str) -> Preview:
    """Return the preview of a stored draft; `image` is the URL on this server, if it has one."""
    return Preview(
        name=copilot.name,
        description=copilot.description,
        image=image,
        features=frozenset(
            feature.key
            for feature in FEATURES
            if copilot.features.get(feature.key, feature.default)
        ),
        models=tuple(copilot.model_choices),
        controls=tuple(copilot.custom_features),
        starters=tuple(copilot.starters),
        notes=_notes(copilot.data_notes, merging=copilot.data_messages.get("merge", True)),
    )


def preview_of_form(form: CopilotForm, *, image: str) -> Preview:
    """Return the preview of an unsaved form, which may be incomplete."""
    copilot, address = form.instance, str(form["image_url"].value() or "").strip()
    removed = "remove_image" in form.fields and form["remove_image"].value()
    uploaded = bool(copilot.image) and not removed
    shown = image if uploaded or (not copilot.image and address == form.stored_address) else ""
    return Preview(
        name=form["name"].value() or "",
        description=form["description"].value() or "",
        image=shown,
        features=frozenset(form["features"].value() or ()),
        models=tuple(_good_rows(form["model_choices"].value())),
        controls=tuple(_good_rows(form["custom_features"].value())),
        starters=tuple(row["text"] for row in _good_rows(form["starters"].value())),
        notes=_notes(
            _good_rows(form["data_notes"].value()),
            merging="merge" in (form["data_messages"].value() or ()),
        ),
    )


def _notes(rows: Sequence[Mapping[str, Any]], *, merging: bool) -> tuple[str, ...]:
    notes = [data_note(row) for row in rows if row.get("enabled") is not False]
    return tuple(map(render, fold(notes, merging=merging)))


def _good_rows(formset: RowFormSet) -> Sequence[Mapping[str, Any]]:
    formset.is_valid()
    good = [form for form in formset.forms if _is_good(form)]
    return [form.row() for form in sorted(good, key=_place)]


def _is_good(form: RowForm) -> bool:
    return form.has_changed() and form.is_valid() and not form.cleaned_data.get("DELETE")


def _place(form: RowForm) -> float:
    place = form.cleaned_data.get("ORDER")
    return inf if place is None else place
