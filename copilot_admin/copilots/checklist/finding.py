"""What a check has found: how grave it is, a sentence, and the input where it is mended."""

from dataclasses import dataclass
from enum import StrEnum

from copilot_admin.copilots.config import FIELDS_BY_KEY, FORM_FIELDS

TESTS = "tests"  # code of the check of test results


class Severity(StrEnum):
    """What a finding means for publishing."""

    ERROR = "error"  # stops it
    WARNING = "warning"  # is told, and stops nothing


_GRAVEST_FIRST = tuple(Severity)
_PLACES = {field.key: place for place, field in enumerate(FORM_FIELDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a builder should know before publishing.

    Attributes:
        field: Its key in a copilot file.
        sentence: What is wrong, and what to do.
        at: The input of the form where it is mended, if it is not the last one of the field.
        only_for_people: A command publishes nevertheless: it lies in the environment of this
            process, which need not be the server's, or files that have it were published before.
        code: Name of the check, where something depends on it.
    """

    severity: Severity
    field: str
    sentence: str
    at: str = ""
    only_for_people: bool = False
    code: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    @property
    def input(self) -> str:
        """The name of the input where it is mended."""
        return self.at or FIELDS_BY_KEY[self.field].problem_input

    @property
    def rank(self) -> tuple[int, int]:
        """Where it stands in a list: the gravest first, then in the order of the form."""
        return _GRAVEST_FIRST.index(self.severity), _PLACES[self.field]


def error(
    field: str, sentence: str, *, at: str = "", only_for_people: bool = False, code: str = ""
) -> Finding:
    """A finding that stops publishing."""
    return Finding(
        severity=Severity.ERROR,
        field=field,
        sentence=sentence,
        at=at,
        only_for_people=only_for_people,
        code=code,
    )


def warning(field: str, sentence: str, *, at: str = "", code: str = "") -> Finding:
    """What is told, and stops nothing."""
    return Finding(severity=Severity.WARNING, field=field, sentence=sentence, at=at, code=code)
