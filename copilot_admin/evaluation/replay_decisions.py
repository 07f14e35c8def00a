"""What becomes of a replay: its states, its bound on cost, and what its answers come to; all pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import ReplayState
from copilot_admin.pricing.money import format_dollars

SLOWER = 2  # times as long as before


class ReplayWish(StrEnum):
    """What somebody wants of a replay."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"


MOVES: Mapping[tuple[str, ReplayWish], ReplayState] = {
    (ReplayState.WAITING, ReplayWish.PAUSE): ReplayState.PAUSED,
    (ReplayState.RUNNING, ReplayWish.PAUSE): ReplayState.PAUSED,
    (ReplayState.PAUSED, ReplayWish.RESUME): ReplayState.WAITING,
    (ReplayState.COST_BOUND, ReplayWish.RESUME): ReplayState.WAITING,
    (ReplayState.WAITING, ReplayWish.STOP): ReplayState.STOPPED,
    (ReplayState.RUNNING, ReplayWish.STOP): ReplayState.STOPPED,
    (ReplayState.PAUSED, ReplayWish.STOP): ReplayState.STOPPED,
    (ReplayState.COST_BOUND, ReplayWish.STOP): ReplayState.STOPPED,
}
GOING_ON = (ReplayState.WAITING, ReplayState.RUNNING)


def after(state: str, wish: ReplayWish) -> ReplayState | None:
    """The state after a wish; None where it cannot be granted."""
    return MOVES.get((state, wish))


class Next(StrEnum):
    """Whether another question may be asked."""

    ASK = "ask"
    LATER = "later"  # those under way may reach the bound
    NEVER = "never"  # it is reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a replay cost so far.

    Attributes:
        known: In US dollars, of `n_known` answers.
        n_unknown: Answers whose cost nobody knows.
        under_way: Questions that are being asked.
    """

    known: Decimal = Decimal(0)
    n_known: int = 0
    n_unknown: int = 0
    under_way: int = 0


def next_question(spent: Spent, most: Decimal | None) -> Next:
    """Whether another question may be asked under a bound.

    Those under way count with what an answer cost on average so far. What is unknown counts nothing.

    Args:
        spent: So far.
        most: In US dollars; None: no bound.
    """
    if most is None:
        return Next.ASK
    if spent.known >= most:
        return Next.NEVER
    if not spent.under_way:
        return Next.ASK
    if not spent.n_known:
        return Next.LATER  # nobody knows what one costs before the first is there
    expected = spent.known + spent.known / spent.n_known * spent.under_way
    return Next.LATER if expected >= most else Next.ASK


def is_slower(ms: int, before_ms: int) -> bool | None:
    return ms > SLOWER * before_ms if before_ms else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the answers of a replay come to, in numbers.

    Attributes:
        compared: Answers beside an earlier one; of these `changed` and `slower` are counted.
        priced: Pairs of which both costs are known: `cost_before` and `cost_after` are theirs.
        spent: What all its answers cost.
    """

    total: int = 0
    unfinished: int = 0
    failed: int = 0
    compared: int = 0
    changed: int = 0
    slower: int = 0
    as_expected: int = 0
    not_as_expected: int = 0
    undecided: int = 0
    priced: int = 0
    cost_before: Decimal = Decimal(0)
    cost_after: Decimal = Decimal(0)
    tokens_before: int = 0
    tokens_after: int = 0
    spent: Spent = Spent()

    @property
    def done(self) -> int:
        """Questions that were asked."""
        return self.total - self.unfinished


def percent(before: Decimal | int, now: Decimal | int) -> str:
    """A change in words, such as +12 %; empty where there was nothing before."""
    if not before:
        return ""
    change = (Decimal(now) / Decimal(before) - 1) * 100
    rounded = change.quantize(Decimal(1), ROUND_HALF_EVEN)
    return f"{'−' if rounded < 0 else '+'}{abs(rounded)} %"  # noqa: RUF001  # a minus


def summary(tally: Tally) -> str:
    """What differs from the first answers, in one line."""
    return ", ".join(_clauses(tally)) or _("Nothing was asked yet")


def cost_sentence(spent: Spent) -> str:
    """What is known of the cost so far, and that something is not."""
    known = _("%(amount)s so far.") % {"amount": format_dollars(spent.known)}
    if not spent.n_unknown:
        return known
    unknown = ngettext(
        "Of %(count)d answer the cost is unknown, and is not in it.",
        "Of %(count)d answers the cost is unknown, and is not in it.",
        spent.n_unknown,
    ) % {"count": spent.n_unknown}
    return f"{known} {unknown}"


def bound_sentence(spent: Spent, most: Decimal) -> str:
    """Why a replay asks nothing more."""
    reached = _("It stopped at its bound of %(most)s. Raise the bound to go on.")
    return f"{reached % {'most': format_dollars(most)}} {cost_sentence(spent)}"


def _clauses(tally: Tally) -> Iterator[str]:
    if tally.compared:
        yield _("%(changed)d of %(total)d changed") % {
            "changed": tally.changed,
            "total": tally.compared,
        }
    elif tally.done > tally.failed:
        yield _("%(count)d answered, with nothing to compare them to") % {
            "count": tally.done - tally.failed
        }
    if tally.slower:
        yield _("%(count)d slower than twice") % {"count": tally.slower}
    if tally.compared:
        yield _cost_clause(tally)
        if tokens := percent(tally.tokens_before, tally.tokens_after):
            yield _("tokens %(change)s") % {"change": tokens}
    if tally.not_as_expected:
        yield _("%(count)d not as expected") % {"count": tally.not_as_expected}
    if tally.failed:
        yield _("%(count)d failed") % {"count": tally.failed}


def _cost_clause(tally: Tally) -> str:
    if not tally.priced:
        return _("cost unknown")
    change = percent(tally.cost_before, tally.cost_after)
    if not change and not tally.cost_after:
        return _("cost nothing, as before")
    if not change:
        return _("cost %(amount)s, before nothing") % {"amount": format_dollars(tally.cost_after)}
    if tally.priced < tally.compared:
        missing = tally.compared - tally.priced
        return _("cost %(change)s (of %(count)d unknown)") % {"change": change, "count": missing}
    return _("cost %(change)s") % {"change": change}
