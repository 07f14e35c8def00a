"""The conversations behind a figure: one filter of the list that means exactly what was counted.

It names what was counted and the days or hours (`failed 2026-11-16 2026-11-22`, both included), and may
go on with `v3` and, at the end, `model=`: what the figure was of. What figures count is counted with a
request, so each is an EXISTS over requests; what alerts count besides is looked for where it is kept.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
import re
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from copilot_admin.errors import (
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from copilot_admin.models import Feedback, FeedbackSource, Mark, Outcome, Rating, Run, Verdict
from copilot_admin.transcripts.search.periods import DAY, HOUR, Span

LARGEST = 2**31 - 1
PROVIDER_FAULTS = frozenset(
    one.__name__
    for one in (ProviderBroke, ProviderBusy, ProviderRefused, ProviderTimeout, ProviderUnavailable)
)
_ERRORS = (Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED)
_FORM = re.compile(
    r"(?P<what>[a-z]+)(?::(?P<detail>\S+))? (?P<since>\S+) (?P<until>\S+)"
    r"(?: v(?P<version>[0-9]{1,9}))?(?: model=(?P<model>.*))?",
    re.DOTALL,
)
# What most conversations have, or many of them.
_COMMON = frozenset(
    {"requests", "questions", "conversations", "completed", "slower", "priced", "unpriced"}
)
# How few requests end, and which the conversation itself does not tell.
_FEW = frozenset({Outcome.CANCELLED.value, Outcome.TRUNCATED.value, Outcome.REFUSED.value})
_FIRST_OF_TURN = Q(started_at=F("turn__started_at"))
_FIRST_OF_TALK = Q(started_at=F("conversation__first_at"))
_VOTES = {"up": 1, "down": -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a figure counted.

    Attributes:
        what: `requests`, `questions`, `conversations`, an outcome, `errors`, `error`, `slower`, `up`,
            `down`, a rating, `label`, `priced` or `unpriced`; of alerts `complaints` (thumbs down that
            were given then, whatever they are about) and `faults`.
        detail: Of `error` its kind, of `slower` milliseconds, of `label` the number of the criterion,
            of `faults` the name of the provider.
        version: Of the copilot; None: any.
        model: None: any.
    """

    what: str
    span: Span
    detail: str = ""
    version: int | None = None
    model: str | None = None

    def __str__(self) -> str:
        detail = quote(self.detail, safe="-") if self.detail else ""
        parts = [f"{self.what}:{detail}" if detail else self.what, *_days(self.span)]
        if self.version is not None:
            parts.append(f"v{self.version}")
        if self.model is not None:
            parts.append(f"model={self.model}")
        return " ".join(parts)

    def quoted(self) -> str:
        """The same as an address has it: a page has thousands, and only names have to be quoted."""
        detail = f"%3A{quote_plus(quote(self.detail, safe='-'))}" if self.detail else ""
        parts = [f"{self.what}{detail}", *_days(self.span)]
        if self.version is not None:
            parts.append(f"v{self.version}")
        if self.model is not None:
            parts.append(_quoted_model(self.model))
        return "+".join(parts)

    def condition(self) -> Q:
        """What a conversation has to be.

        Raises:
            ValueError: Nothing of the kind is counted.
        """
        if self.what == "complaints":
            return self._complaints()
        if self.what in _FEW:
            return Q(pk__in=self._runs().order_by().values("conversation"))
        runs = self._runs().filter(conversation=OuterRef("pk"))
        if self.what in _COMMON:
            runs = _one_by_one(runs)
        # What an index finds: nothing is asked in a conversation before it began or after its end.
        near = Q(last_at__gte=self.span.first, first_at__lt=self.span.end)
        if self.model is not None and connection.vendor == "postgresql":  # it may be a rare one
            near &= Q(pk__in=Run.objects.filter(model=self.model).order_by().values("conversation"))
        return near & _hint(self.what) & Q(Exists(runs))

    def _runs(self) -> QuerySet[Run]:
        runs = Run.objects.filter(
            _of(self.what, self.detail),
            started_at__gte=self.span.first,
            started_at__lt=self.span.end,
        ).exclude(outcome=Outcome.RUNNING)
        if self.what in _FEW:
            runs = runs.exclude(outcome=Outcome.COMPLETED)  # in SQLite's index, its condition too
        if self.version == 0:
            runs = runs.filter(copilot_version=None)
        elif self.version is not None:
            runs = runs.filter(copilot_version__number=self.version)
        return runs if self.model is None else runs.filter(model=self.model)

    def _complaints(self) -> Q:
        if self.detail or self.version is not None or self.model is not None:
            raise ValueError(str(self))
        return Q(pk__in=complaints(self.span).values("turn__conversation_id"))


def complaints(span: Span) -> QuerySet[Feedback]:
    """Thumbs down of users that were given within a span, whenever the question was asked."""
    return Feedback.objects.filter(
        source=FeedbackSource.END_USER,
        value=-1,
        created_at__gte=span.first,
        created_at__lt=span.end,
    ).order_by()


def _one_by_one(runs: "QuerySet[Run]") -> "QuerySet[Run, Any]":
    """The same requests in a form that PostgreSQL looks up for each conversation, until a page is full.

    It makes a join of a plain EXISTS and reads all requests of all time for a page of fifty; a grouped
    one it leaves as it is.
    """
    if connection.vendor != "postgresql":
        return runs
    grouped = runs.order_by().values("conversation").annotate(number=Count("pk"))
    return grouped.filter(number__gt=0)


def counted_condition(text: str) -> Q:
    """What a conversation has to be for the figure that an address names.

    Raises:
        ValueError: It names none.
    """
    return read_counted(text).condition()


def read_counted(text: str) -> Counted:
    """Reads what `Counted` writes.

    Raises:
        ValueError: It is nothing of the kind.
    """
    found = _FORM.fullmatch(text)
    if found is None or "\0" in unquote(text):  # PostgreSQL refuses it
        raise ValueError(text)
    first, last = _moment(found["since"]), _moment(found["until"])
    end = last + (HOUR if "T" in found["until"] else DAY)
    version = found["version"]
    return Counted(
        what=found["what"],
        detail=unquote(found["detail"] or ""),
        span=Span(first, end),
        version=None if version is None else int(version),
        model=found["model"],
    )


def _moment(text: str) -> datetime:
    form = "%Y-%m-%dT%H" if "T" in text else "%Y-%m-%d"
    moment = datetime.strptime(text, form).replace(tzinfo=UTC)
    if not 1970 <= moment.year <= 9000:
        raise ValueError(text)
    return moment


@lru_cache(maxsize=2048)  # a table has a link in each cell of a day
def _days(span: Span) -> tuple[str, str]:
    last = span.end - timedelta(hours=1)
    first_form = "%Y-%m-%d" if span.first.hour == 0 else "%Y-%m-%dT%H"
    last_form = "%Y-%m-%d" if span.end.hour == 0 else "%Y-%m-%dT%H"
    return span.first.strftime(first_form), last.strftime(last_form)


@lru_cache(maxsize=256)
def _quoted_model(model: str) -> str:
    return quote_plus(f"model={model}")


_PLAIN = {
    "requests": Q(),
    "questions": _FIRST_OF_TURN,
    "conversations": _FIRST_OF_TALK,
    "errors": Q(outcome__in=_ERRORS),
    "priced": Q(cost__gt=0),
    "unpriced": Q(cost=None),
    **{one.value: Q(outcome=one) for one in Outcome if one is not Outcome.RUNNING},
    **{
        name: _FIRST_OF_TURN
        & Q(turn__feedback__value=value, turn__feedback__source=FeedbackSource.END_USER)
        for name, value in _VOTES.items()
    },
}


def _of(what: str, detail: str) -> Q:
    match what:
        case "error" if detail:
            return ~Q(error_code="") & Q(error_code=detail)
        case "faults" if detail:
            return Q(error_code__in=PROVIDER_FAULTS, provider=detail)
        case "slower":  # below 0 Django asks nothing of the column, not even that there is a time
            return Q(ttft_ms__isnull=False, ttft_ms__gt=_number(detail))
        case "label":
            return _judged("marks__criterion", _number(detail))
        case "good" | "mixed" | "bad":
            return _judged("rating", what)
    if detail or what not in _PLAIN:
        raise ValueError(what)
    return _PLAIN[what]


def _judged(name: str, value: object) -> Q:
    of_turn = _FIRST_OF_TURN & Q(**{f"turn__verdicts__{name}": value})
    of_talk = _FIRST_OF_TALK & Q(
        **{"conversation__verdicts__turn": None, f"conversation__verdicts__{name}": value}
    )
    return of_turn | of_talk


def _hint(what: str) -> Q:
    """What the conversation has anyway, where few have it: an index finds them."""
    if what in {"errors", *_ERRORS}:
        return Q(has_error=True)
    if what in _VOTES:
        return Q(**{f"n_{what}__gt": 0})
    if what in Rating.values:
        rated = Verdict.objects.filter(rating=what)
        return Q(pk__in=rated.order_by().values("conversation"))
    if what == "label":
        return Q(pk__in=Mark.objects.order_by().values("verdict__conversation"))
    return Q()


def _number(text: str) -> int:
    if not (text.lstrip("-").isascii() and text.lstrip("-").isdecimal() and len(text) <= 10):
        raise ValueError(text)
    return min(int(text), LARGEST)
