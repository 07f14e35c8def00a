"""Differences between two documents of a copilot, formatted for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from pydantic.fields import FieldInfo

from copilot_admin.copilots.config import FIELDS_BY_KEY, VERSIONED_FIELDS
from copilot_admin.copilots.config_records import VALUE_LABELS, to_short_forms
from copilot_admin.copilots.config_types import LIMITS, StoredRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    key: str
    label: str
    before: str
    after: str


def find_changes(live: Mapping[str, Any], draft: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """Return the fields that differ, in the order of the form."""
    names = [field.key for field in VERSIONED_FIELDS]
    names += [name for name in {**live, **draft} if name not in names]
    return tuple(
        FieldChange(
            key=name,
            label=label_of(name),
            before=format_value(name, live.get(name)),
            after=format_value(name, draft.get(name)),
        )
        for name in names
        if live.get(name) != draft.get(name) and (live or format_value(name, draft.get(name)))
    )


def is_equivalent(key: str, before: Any, after: Any) -> bool:
    """Return whether two values differ only in blanks, line ends or the order of tools.

    A form can't preserve these.
    """
    if key == "tools":
        return sorted(map(str, before)) == sorted(map(str, after))
    return bool(_normalise(before) == _normalise(after))


def _normalise(value: Any) -> Any:
    match value:
        case str():
            return "\n".join(value.splitlines()).strip()
        case Mapping():
            return {key: _normalise(item) for key, item in value.items()}
        case list() | tuple():
            return [_normalise(item) for item in value]
        case _:
            return value


def label_of(key: str) -> str:
    field = FIELDS_BY_KEY.get(key)
    return str(field.compared_as or field.label) if field else key


def format_value(key: str, value: Any) -> str:
    """Return a value of a document as the form shows it; empty where there is none."""
    field = FIELDS_BY_KEY.get(key)
    if value is None or field is None:
        return format_plain(value)
    if key == "image":
        return value if not value or "://" in value else _("Uploaded image")
    if key == "limits":
        numbers = {one: number_format(value[one], force_grouping=True) for one in value}
        return "\n".join(f"{LIMITS.get(one, one)}: {number}" for one, number in numbers.items())
    if key == "components":
        return format_plain(to_short_forms(value))
    if field.options and isinstance(value, Mapping):
        on = (one for one in field.options if value.get(one.value, one.default) is True)
        return "\n".join(str(one.label) for one in on)
    if field.options:
        labels = {one.value: str(one.label) for one in field.options}
        return labels.get(value, format_plain(value))
    if field.record and isinstance(value, list):
        return "\n".join(_format_row(field.record, row) for row in value)
    return format_plain(value)


def format_plain(value: object) -> str:
    """Return a plain value for people to read; never JSON."""
    match value:
        case None:
            return ""
        case bool():
            return _("yes") if value else _("no")
        case Mapping():
            return ", ".join(f"{name}: {format_plain(item)}" for name, item in value.items())
        case list() | tuple():
            return "\n".join(format_plain(item) for item in value)
        case _:
            return str(value).replace("\r\n", "\n")  # older drafts have both kinds of line ends


def _format_row(record: type[StoredRecord], row: object) -> str:
    if not isinstance(row, Mapping):
        return format_plain(row)
    fields = {info.alias or name: info for name, info in record.model_fields.items()}
    return ", ".join(_format_key(fields.get(key), key, value) for key, value in row.items())


def _format_key(info: FieldInfo | None, key: str, value: Any) -> str:
    kinds = (info.annotation, *get_args(info.annotation)) if info else ()
    nested = (one for one in kinds if isinstance(one, type) and issubclass(one, StoredRecord))
    if isinstance(value, Mapping) and (record := next(nested, None)):
        return _format_row(record, value)
    label = (info and info.title) or key
    if isinstance(value, str):
        value = str(VALUE_LABELS.get(key, {}).get(value, value))
    if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):  # choices
        pairs = (dict.fromkeys((str(one.get("label")), str(one.get("value")))) for one in value)
        value = "; ".join(map(" = ".join, pairs))
    return f"{label}: {format_plain(value)}"
