"""Give runs of unknown cost one, now that their model has a price that was valid when they started.

A run at a time: its row, turn, conversation and rollups change in one transaction, which ends at once.
Whatever breaks off leaves nothing half done, and whoever begins again goes on with what is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from copilot_admin.engine.values.model_call import Usage, UsageSource
from copilot_admin.journal.usage import count_cost
from copilot_admin.journal.votes import asked_of
from copilot_admin.models import Conversation, CostConfidence, Event, EventType, Outcome, Run, Turn
from copilot_admin.prices.bill import Bill, bill_of
from copilot_admin.prices.cost import UNKNOWN, Price, at_best_estimated
from copilot_admin.storage import blobs
from copilot_admin.storage.held_back import holding_back
from copilot_admin.storage.statements import Update

AT_ONCE = 500  # runs that one read looks through
_ADD, _EITHER = ("cost", "n_unpriced"), ("cost_is_estimated",)
_TURN = Update(Turn, where=("id",), add=_ADD, either=_EITHER)
_CONVERSATION = Update(Conversation, where=("id",), add=_ADD, either=_EITHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedRun:
    """A run of unknown cost, and what it costs by the prices that there are now."""

    run: Run
    bill: Bill


def unknown_costs(*, provider: str = "") -> Iterator[PricedRun]:
    """The runs of unknown cost that have ended; changes nothing.

    Args:
        provider: Only of this one, by the name that runs have; empty: of all.
    """
    for ids in _pages():
        for run in _unpriced(provider).filter(pk__in=ids).order_by("started_at"):
            yield PricedRun(run=run, bill=bill_now(run))


def fill_cost(run_id: UUID) -> PricedRun | None:
    """Writes what a run costs wherever costs are added up; None where it is known or gone by now."""
    with transaction.atomic(), holding_back() as do_last:
        run = _unpriced().filter(pk=run_id).select_for_update(of=("self",)).first()
        if run is None:
            return None
        bill = bill_now(run)
        if bill.cost.amount is not None:
            _write(run, bill, bill.cost.amount)
        do_last()
    return PricedRun(run=run, bill=bill)


def bill_now(run: Run) -> Bill:
    """What a run costs by the prices that there are now; a copy that it keeps goes before them."""
    usages = _usages(run)
    if usages is None:
        return Bill(UNKNOWN)
    bill = bill_of(
        usages,
        provider=run.provider,
        model=run.model,
        at=run.started_at,
        outcome=Outcome(run.outcome),
        kept=_kept(run),
    )
    if run.conversation_id is None and usages:
        # Nothing says whether components asked other models: where nothing is kept, nor are calls.
        return Bill(at_best_estimated(bill.cost), bill.price)
    return bill


def _pages() -> Iterator[Sequence[UUID]]:
    """All runs by their ids, so many that no statement takes long."""
    newer = Run.objects.order_by("pk").values_list("pk", flat=True)
    page = list(newer[:AT_ONCE])
    while page:
        yield page
        page = list(newer.filter(pk__gt=page[-1])[:AT_ONCE])


def _unpriced(provider: str = "") -> QuerySet[Run]:
    runs = Run.objects.filter(cost=None).exclude(outcome=Outcome.RUNNING)
    runs = runs.select_related("copilot_version")
    return runs.filter(provider=provider) if provider else runs


def _write(run: Run, bill: Bill, amount: Decimal) -> None:
    confidence = bill.cost.confidence
    Run.objects.filter(pk=run.pk).update(cost=amount, cost_confidence=confidence, **bill.prices)
    added = {
        "cost": amount,
        "n_unpriced": -1,
        "cost_is_estimated": confidence is CostConfidence.ESTIMATED,
    }
    if run.turn_id is not None:
        _TURN(id=run.turn_id, **added)
    if run.conversation_id is not None:
        _CONVERSATION(id=run.conversation_id, **added)
    if run.is_counted:  # or it is counted later, with its cost
        count_cost(asked_of(run), amount)


def _kept(run: Run) -> Price | None:
    if run.input_price is None or run.output_price is None:
        return None
    return Price(
        input=run.input_price,
        output=run.output_price,
        cached=run.cached_price,
        reasoning=run.reasoning_price,
    )


def _usages(run: Run) -> Sequence[Usage] | None:
    """The tokens by model; None: nobody can say any more how they are divided among models."""
    if not run.usage_source:
        return ()
    others = _of_components(run)
    if others is None:
        return None
    read = run.input_tokens - sum(usage.input_tokens for usage in others)
    written = run.output_tokens - sum(usage.output_tokens for usage in others)
    if read < 0 or written < 0:
        return None
    if others and not (read or written):  # only components asked models
        return others
    own = Usage(
        input_tokens=read,
        cached_tokens=run.cached_tokens,
        output_tokens=written,
        reasoning_tokens=run.reasoning_tokens,
        source=UsageSource(run.usage_source),
    )
    return (own, *others)


def _of_components(run: Run) -> Sequence[Usage] | None:
    """What the models of components read and wrote, as their calls say; None: calls were not kept."""
    calls = Event.objects.filter(run=run, type=EventType.COMPONENT).order_by("ord")
    usages: list[Usage] = []
    for call in list(calls):
        sha = call.blob_id
        told: Any = blobs.load([sha]).get(sha) if sha else call.payload
        if not isinstance(told, Mapping):
            return None
        usages += [
            Usage(
                input_tokens=usage["prompt_tokens"],
                output_tokens=usage["completion_tokens"],
                model=usage["name"],
            )
            for usage in told.get("usage", ())
        ]
    return usages
