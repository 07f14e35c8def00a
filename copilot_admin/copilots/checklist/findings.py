"""Findings of the checks, and the draft with its surroundings that they read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.copilots.config import CONFIG_FIELDS, FIELDS_BY_KEY
from copilot_admin.copilots.publish_gate import TestFacts
from copilot_admin.models import Access


class Severity(StrEnum):
    """Meaning of a finding for publishing: an error stops it."""

    ERROR = "error"
    WARNING = "warning"


_ORDER = {field.key: place for place, field in enumerate(CONFIG_FIELDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Problem of a draft that a builder should know before publishing.

    Attributes:
        field: Its key in a copilot file.
        sentence: The problem, and what to do.
        at: The input of the form, where it isn't the last one of the field.
        only_for_people: A command publishes anyway: the cause is in the environment of this
            process, or in files that earlier releases accepted.
        code: Name of the check.
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
        """Name of the input where the problem is fixed."""
        return self.at or FIELDS_BY_KEY[self.field].input

    @property
    def rank(self) -> tuple[bool, int]:
        """Errors first, then in the order of the form."""
        return not self.is_error, _ORDER[self.field]


def error(field: str, sentence: str, *, at: str = "", only_for_people: bool = False) -> Finding:
    """Return a finding that stops publishing."""
    return Finding(
        severity=Severity.ERROR,
        field=field,
        sentence=sentence,
        at=at,
        only_for_people=only_for_people,
    )


def warning(field: str, sentence: str, *, at: str = "") -> Finding:
    """Return a finding that doesn't stop publishing."""
    return Finding(severity=Severity.WARNING, field=field, sentence=sentence, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftContent:
    """The document of a draft; the spec lacks what no answer depends on."""

    spec: CopilotSpec
    image: str = ""
    starters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFacts:
    """Facts about the surroundings of a draft, known without a network request.

    Attributes:
        keys: Number of valid endpoint keys.
        models: Models that each provider last listed; providers never asked are absent.
        unasked: Names of its providers that are absent from `models`.
        missing_providers: Names in its options and fallbacks that no provider has.
        has_image: This server has the file of its image.
        tests: Results of its tests, if a pass rate is required.
    """

    enabled: bool = True
    access: Access = Access.OPEN
    keys: int = 0
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()
    missing_providers: frozenset[str] = frozenset()
    has_image: bool = True
    tests: TestFacts | None = None
