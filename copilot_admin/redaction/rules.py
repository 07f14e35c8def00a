"""Redaction rules: kinds of personal data and expressions, of the server and of a copilot."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.utils.translation import ngettext

from copilot_admin.redaction.kinds import LABELS, DataKind

MAX_EXPRESSIONS = 20
MAX_EXPRESSION_LENGTH = 300  # characters


@dataclass(frozen=True, slots=True)
class Rules:
    """Kinds of data and expressions that are removed before anything is stored."""

    kinds: tuple[DataKind, ...] = ()
    expressions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.expressions)

    def __add__(self, other: "Rules") -> "Rules":
        wanted = {*self.kinds, *other.kinds}
        return Rules(
            tuple(kind for kind in DataKind if kind in wanted),
            tuple(dict.fromkeys((*self.expressions, *other.expressions))),
        )


NO_RULES = Rules()


class Redacting(Protocol):
    """Row of a copilot, or a draft, with redaction rules."""

    redaction: Any
    redacted_expressions: Any


def describe_rules(copilot: Redacting) -> list[str]:
    """Describe what a copilot's own rules remove."""
    words = [str(LABELS[kind]) for kind in _known(copilot.redaction)]
    number = len(copilot.redacted_expressions)
    if number:
        text = ngettext("what %(n)d expression finds", "what %(n)d expressions find", number)
        words.append(text % {"n": number})
    return words


def rules_of(copilot: Redacting) -> Rules:
    """Return the rules of a copilot with those of the server."""
    return rules_for(copilot.redaction, copilot.redacted_expressions)


def rules_for(kinds: Iterable[str], expressions: Iterable[str]) -> Rules:
    """Combine rules of a copilot with those of the server."""
    return server_rules() + Rules(_known(kinds), tuple(expressions))


def server_rules() -> Rules:
    """Return the rules that apply to every copilot."""
    kinds, expressions = settings.REDACTION
    return Rules(_known(kinds), expressions)


def _known(kinds: Iterable[str]) -> tuple[DataKind, ...]:
    wanted = set(kinds)
    return tuple(kind for kind in DataKind if kind in wanted)
