"""A row as values that can be compared with what it is later; secrets are compared and never told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
import re
from typing import Any

from django.db.models import BinaryField, FileField, ForeignKey, Model
from django.utils.functional import Promise

from copilot_admin.audit.subject import name_of
from protocol.json import Json
from protocol.redaction import is_secret_name

# What is a secret or tells something about one, besides what `protocol.redaction` knows.
_SEALED = re.compile(r"(?:.*_)?(?:cipher|digest|hash|salt|session_key|session_data)")

LONGEST_NAME = 100  # longer keys are data, not names


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that is compared, and told as "set" alone."""

    value: object = field(repr=False)


Snapshot = Mapping[str, object]


def snapshot(row: Model) -> Snapshot:
    """All that is stored of a row, by the name of its field; one query for each many-to-many field."""
    options = row._meta
    # When a row was saved last is the time of the entry, and no change.
    told = [one for one in options.concrete_fields if not getattr(one, "auto_now", False)]
    values = {one.name: _value(row, one) for one in told}
    for many in options.many_to_many:
        found = getattr(row, many.name).all()
        values[many.name] = sorted(_related(other) for other in found)
    return values


def is_secret(name: str) -> bool:
    """Whether what is called so is a secret."""
    if len(name) > LONGEST_NAME:
        return False
    return is_secret_name(name) or _SEALED.fullmatch(name) is not None


def plain(value: object) -> Json:
    """A value as JSON; members with the name of a secret are told as "set"."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value - value == 0 else str(value)  # NaN and infinity are no JSON
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"  # not 0E-12
        case Promise():
            return str(value)
        case Mapping():
            return {str(key): _member(str(key), one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(one) for one in value]
        case _:
            return str(value)


def _member(name: str, value: object) -> Json:
    return _told(value) if is_secret(name) else plain(value)


def _told(value: object) -> str:
    return "set" if value else "not set"


def _value(row: Model, column: Any) -> object:
    stored = getattr(row, column.attname)
    if is_secret(column.name) or isinstance(column, BinaryField):
        return Secret(bytes(stored) if isinstance(stored, memoryview) else stored)
    if isinstance(column, ForeignKey):
        return None if stored is None else _related(getattr(row, column.name))
    if isinstance(column, FileField):
        return stored.name or ""
    return stored


def _related(row: Model) -> str:
    name = name_of(row)
    return f"{name} ({row.pk})" if name else str(row.pk)
