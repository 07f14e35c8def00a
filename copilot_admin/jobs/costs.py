"""Give runs of unknown cost one, now that their model has a price that was valid when they started.

A few runs at a time: their rows, turns, conversations and rollups change in one transaction, which ends
at once and waits for nobody: what somebody else has locked is filled alone, afterwards. Whatever breaks
off leaves nothing half done, and whoever begins again goes on with what is left.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Model, Q, QuerySet, Sum

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.jobs.half_pace import at_half_pace
from copilot_admin.models import Conversation, CostConfidence, Event, EventType, Outcome, Run, Turn
from copilot_admin.pricing.cost import (
    UNKNOWN_COST,
    Cost,
    RunCost,
    calculate_run_cost,
    mark_estimated,
)
from copilot_admin.pricing.prices import Price
from copilot_admin.storage import blobs
from copilot_admin.storage.held_back import holding_back
from copilot_admin.storage.many import in_batches
from copilot_admin.storage.selects import member
from copilot_admin.storage.statements import Update
from copilot_admin.transcripts.store.usage import count_cost
from copilot_admin.transcripts.store.votes import asked_of

AT_ONCE = 500  # runs that one read looks through
TOGETHER = 20  # runs of one transaction, some 30 ms: whoever asks waits for it no longer
_ESTIMATED = CostConfidence.ESTIMATED
_SUMS, _EITHER = ("cost", "n_unpriced"), ("cost_is_estimated",)
_TURN = Update(Turn, where=("id",), add=_SUMS, either=_EITHER)
_CONVERSATION = Update(Conversation, where=("id",), add=_SUMS, either=_EITHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedRun:
    """A run of unknown cost, and what it costs by the prices that there are now."""

    run: Run
    bill: RunCost


def unknown_costs(*, provider: str = "") -> Iterator[PricedRun]:
    """The runs of unknown cost that have ended; changes nothing.

    Args:
        provider: Only of this one, by the name that runs have; empty: of all.
    """
    for ids in _pages():
        for run in _unpriced(provider).filter(pk__in=ids).order_by("started_at"):
            yield PricedRun(run=run, bill=bill_now(run))


def filled_costs(*, provider: str = "") -> Iterator[PricedRun]:
    """The runs of unknown cost that have ended, each after it got one if there is one; writes.

    Args:
        provider: Only of this one, by the name that runs have; empty: of all.
    """
    for ids in _pages():
        found = _unpriced(provider).filter(pk__in=ids).order_by("started_at")
        for some in in_batches(list(found.values_list("pk", flat=True)), TOGETHER):
            done = at_half_pace(partial(_filled_together, some))
            yield from done
            for run_id in set(some) - {one.run.pk for one in done}:
                alone = fill_cost(run_id)
                if alone is not None:
                    yield alone


def fill_cost(run_id: UUID) -> PricedRun | None:
    """Writes what a run costs wherever costs are added up; None where it is known or gone by now.

    Where a sum does not have what is to be taken from it, it is added up anew from its runs.
    """
    for write in (_add, _add_up):
        try:
            return _filled_alone(run_id, write)
        except IntegrityError:
            continue
    return _filled_alone(run_id, partial(_add_up, counts_unpriced=False))


def _filled_alone(run_id: UUID, write: Callable[[Sequence[PricedRun]], None]) -> PricedRun | None:
    with transaction.atomic(), holding_back() as do_last:
        run = _unpriced().filter(pk=run_id).select_for_update(of=("self",)).first()
        if run is None:
            return None
        found = PricedRun(run=run, bill=bill_now(run))
        _write_runs([found], write)
        do_last()
    return found


def _filled_together(run_ids: Sequence[UUID]) -> list[PricedRun]:
    """Fills the costs of runs that nobody else has locked; of none where the database refuses a sum."""
    try:
        with transaction.atomic(), holding_back() as do_last:
            rows = _unpriced().filter(pk__in=run_ids)
            runs = list(rows.select_for_update(of=("self",), skip_locked=True).order_by("pk"))
            free = _locked(Conversation, {run.conversation_id for run in runs})
            free_turns = _locked(Turn, {run.turn_id for run in runs})
            runs = [
                run for run in runs if run.conversation_id in free and run.turn_id in free_turns
            ]
            calls = _calls_of(run.pk for run in runs)
            found = [PricedRun(run=run, bill=bill_now(run, calls[run.pk])) for run in runs]
            _write_runs(found, _add)
            do_last()
    except IntegrityError:
        return []
    return found


def _locked(model: type[Model], ids: Collection[int | None]) -> frozenset[int | None]:
    """Locks the rows that nobody else has, and gives their ids; None, for no row at all, is among them."""
    rows = model._default_manager.filter(pk__in=[one for one in ids if one is not None])
    mine = rows.select_for_update(skip_locked=True).order_by("pk").values_list("pk", flat=True)
    return frozenset((None, *mine))


def bill_now(run: Run, calls: Sequence[Event] | None = None) -> RunCost:
    """What a run costs by the prices that there are now; a copy that it keeps goes before them.

    Args:
        run: That has ended.
        calls: Of components, if they were read already.
    """
    usages = _usages(run, _calls_of([run.pk])[run.pk] if calls is None else calls)
    if usages is None:
        return RunCost(UNKNOWN_COST)
    bill = calculate_run_cost(
        usages,
        provider=run.provider,
        model=run.model,
        at=run.started_at,
        outcome=member(Outcome, run.outcome),
        stored_price=_kept(run),
    )
    if run.conversation_id is None and usages:
        # Nothing says whether components asked other models: where nothing is kept, nor are calls.
        return RunCost(mark_estimated(bill.cost), bill.price)
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


def _write_runs(found: Sequence[PricedRun], write: Callable[[Sequence[PricedRun]], None]) -> None:
    """Writes costs that are known into their runs, and then wherever they are added up."""
    known = [one for one in found if one.bill.cost.amount is not None]
    for one in known:
        cost = one.bill.cost
        Run.objects.filter(pk=one.run.pk).update(
            cost=cost.amount, cost_confidence=cost.confidence, **one.bill.price_fields
        )
    write(known)


def _add(found: Sequence[PricedRun]) -> None:
    """Adds costs to those of their turns and conversations, and to the rollups."""
    sums: defaultdict[tuple[Update, int], list[Cost]] = defaultdict(list)
    for one in found:
        run, cost = one.run, one.bill.cost
        if run.conversation_id is not None:
            sums[_CONVERSATION, run.conversation_id].append(cost)
        if run.turn_id is not None:
            sums[_TURN, run.turn_id].append(cost)
    for (update, pk), costs in sums.items():
        update(
            id=pk,
            cost=sum((cost.amount or 0 for cost in costs), Decimal(0)),
            n_unpriced=-len(costs),
            cost_is_estimated=any(cost.confidence is _ESTIMATED for cost in costs),
        )
    _count(found)


def _add_up(found: Sequence[PricedRun], *, counts_unpriced: bool = True) -> None:
    """Adds up the costs of turns and conversations anew, where one of them was wrong."""
    for one in found:
        for model, name in ((Conversation, "conversation_id"), (Turn, "turn_id")):
            pk = getattr(one.run, name)
            if pk is not None:
                ended = Run.objects.filter(**{name: pk}).exclude(outcome=Outcome.RUNNING)
                sums = ended.aggregate(
                    known=Sum("cost"),
                    unpriced=Count("pk", filter=Q(cost=None)),
                    guessed=Count("pk", filter=Q(cost_confidence=_ESTIMATED)),
                )
                model._default_manager.filter(pk=pk).update(
                    cost=sums["known"] or 0,
                    n_unpriced=sums["unpriced"],
                    cost_is_estimated=sums["guessed"] > 0,
                )
    _count(found, counts_unpriced=counts_unpriced)


def _count(found: Iterable[PricedRun], *, counts_unpriced: bool = True) -> None:
    for one in found:
        amount = one.bill.cost.amount
        if one.run.is_counted and amount is not None:  # or it is counted later, with its cost
            count_cost(asked_of(one.run), amount, was_unpriced=counts_unpriced)


def _kept(run: Run) -> Price | None:
    if run.input_price is None or run.output_price is None:
        return None
    return Price(
        input=run.input_price,
        output=run.output_price,
        cached=run.cached_price,
        reasoning=run.reasoning_price,
    )


def _usages(run: Run, calls: Sequence[Event]) -> Sequence[Usage] | None:
    """The tokens by model; None: nobody can say any more how they are divided among models."""
    if not run.usage_source:
        return ()
    others = _of_components(calls)
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
        source=member(UsageSource, run.usage_source),
    )
    return (own, *others)


def _calls_of(run_ids: Iterable[UUID]) -> Mapping[UUID, list[Event]]:
    """The calls of components of some runs."""
    found: defaultdict[UUID, list[Event]] = defaultdict(list)
    for call in Event.objects.filter(run__in=list(run_ids), type=EventType.COMPONENT).order_by(
        "ord"
    ):
        found[call.run_id].append(call)
    return found


def _of_components(calls: Sequence[Event]) -> Sequence[Usage] | None:
    """What the models of components read and wrote, as their calls say; None: calls were not kept."""
    usages: list[Usage] = []
    for call in calls:
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
