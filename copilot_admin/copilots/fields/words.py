"""A value of a draft as people read it: in the words of the form in which it is chosen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from django.utils.translation import gettext as _
from pydantic.fields import FieldInfo

from copilot_admin.copilots.fields.draft_field import Choice, DraftField, Option, Rows, Switches
from copilot_admin.copilots.fields.shape import StoredRecord
from copilot_admin.copilots.fields.shown import Shown, shown_in


def words_of(field: DraftField, value: Any) -> str:
    """What a field says; nothing where it has no value."""
    if value is None:
        return ""
    if field.in_words:
        return field.in_words(value)
    match field.editor:
        case Choice(options):
            return _label_of(value, ((one.value, one.label) for one in options))
        case Switches(options):
            return _switched_on(options, value or {})
        case Rows() as rows if isinstance(value, Sequence) and not isinstance(value, str):
            return "\n".join(_row_in_words(rows.record, row) for row in value)
        case _:
            return in_words(value)


def in_words(value: object) -> str:
    """A value of a document as people read it; never JSON."""
    match value:
        case None:
            return ""
        case bool():
            return _("yes") if value else _("no")
        case Mapping():
            return ", ".join(f"{name}: {in_words(item)}" for name, item in value.items())
        case list() | tuple():
            return "\n".join(in_words(item) for item in value)
        case _:
            return str(value).replace("\r\n", "\n")  # drafts of older releases were kept so


def _label_of(value: object, labels: Iterable[tuple[str, object]]) -> str:
    found = {key: str(label) for key, label in labels}
    return found.get(value, in_words(value)) if isinstance(value, str) else in_words(value)


def _switched_on(options: Iterable[Option], stored: Mapping[str, Any]) -> str:
    on = (one.label for one in options if stored.get(one.value, one.default) is True)
    return "\n".join(map(str, on))


def _row_in_words(record: type[StoredRecord], row: object) -> str:
    if not isinstance(row, Mapping):
        return in_words(row)
    fields = {info.alias or name: info for name, info in record.model_fields.items()}
    return ", ".join(_key_in_words(fields.get(key), key, value) for key, value in row.items())


def _key_in_words(info: FieldInfo | None, key: str, value: object) -> str:
    shown, record = _shown_for(info, value), _record_in(info)
    if record and isinstance(value, Mapping):
        return _row_in_words(record, value)
    if shown is None:
        return f"{key}: {in_words(value)}"
    return f"{shown.label}: {_label_of(value, shown.options) if shown.options else _plain(value)}"


def _shown_for(info: FieldInfo | None, value: object) -> Shown | None:
    found = list(shown_in(info)) if info else []
    fitting = [one for one in found if one.is_switch is isinstance(value, bool)]
    return next(iter([*fitting, *found]), None)


def _record_in(info: FieldInfo | None) -> type[StoredRecord] | None:
    kinds = (info.annotation, *get_args(info.annotation)) if info else ()
    records = (one for one in kinds if isinstance(one, type) and issubclass(one, StoredRecord))
    return next(records, None)


def _plain(value: object) -> str:
    if isinstance(value, list) and value and all(map(_is_choice, value)):
        return "; ".join(_choice(one) for one in value)
    return in_words(value)


def _is_choice(value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"label", "value"}


def _choice(one: Mapping[str, object]) -> str:
    return " = ".join(dict.fromkeys((str(one["label"]), str(one["value"]))))
