"""What the entries of a copilot file share: no unknown keys, no guessing, sentences of our own."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError


class Shape(BaseModel):
    """A record whose keys are all known and whose values are taken as they are."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class StoredRecord(Shape):
    """A record that a draft stores in another form than a file has it."""

    def row(self) -> dict[str, Any]:
        """The record as a draft stores it."""
        return self.model_dump()


def stored(value: Any) -> Any:
    """What a draft stores of a value of a file."""
    match value:
        case StoredRecord():
            return value.row()
        case list():
            return [stored(each) for each in value]
        case _:
            return value


def fault(sentence: str | Promise) -> PydanticCustomError:
    """A fault in words; raise it in a validator."""
    return PydanticCustomError("fault", "{sentence}", {"sentence": str(sentence)})


def refuse_repeated(values: list[str], *, what: str | Promise) -> None:
    """Refuses a value that stands twice.

    Raises:
        PydanticCustomError: The first that does.
    """
    seen: set[str] = set()
    for value in values:
        if value in seen:
            sentence = _("the %(what)s '%(value)s' is given twice. Keep one.")
            raise fault(sentence % {"what": what, "value": value})
        seen.add(value)
