"""Give runs of unknown cost one, now that their model has a price that was valid when they started.

A few runs at a time: their rows, turns, conversations and rollups change in one transaction, which ends
at once and waits for nobody: what somebody else has locked is filled alone, afterwards. Whatever breaks
off leaves nothing half done, and whoever begins again goes on with what is left.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Model, Q, QuerySet, Sum

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.jobs.half_pace import at_half_pace
from copilot_admin.models import Conversation, CostConfidence, Event, EventType, Outcome, Run, Turn
from copilot_admin.pricing.cost import (
    UNKNOWN_COST,
    RunCost,
    calculate_run_cost,
    mark_estimated,
)
from copilot_admin.pricing.prices import Price
from copilot_admin.storage import blobs
from copilot_admin.storage.many import in_batches
from copilot_admin.storage.selects import member
from copilot_admin.transcripts.store.rollups import uncount_runs

AT_ONCE = 500  # runs that one read looks through
TOGETHER = 20  # runs of one transaction, some 30 ms: whoever asks waits for it no longer


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
            done = at_half_pace(partial(fill_costs, some, skip_locked=True))
            yield from done
            for run_id in set(some) - {one.run.pk for one in done}:
                yield from fill_costs([run_id])


def fill_costs(run_ids: Sequence[UUID], *, skip_locked: bool = False) -> list[PricedRun]:
    """Write what runs cost, and add up their turns and conversations again.

    Args:
        run_ids: Those whose cost is known or that are gone by now are left out.
        skip_locked: Leave out what somebody else has locked, so that many rows can't deadlock.
    """
    with transaction.atomic():
        rows = _unpriced().filter(pk__in=run_ids).order_by("pk")
        runs = list(rows.select_for_update(of=("self",), skip_locked=skip_locked))
        if skip_locked:
            talks = _lock_free(Conversation, {run.conversation_id for run in runs})
            turns = _lock_free(Turn, {run.turn_id for run in runs})
            runs = [run for run in runs if run.conversation_id in talks and run.turn_id in turns]
        calls = _calls_of(run.pk for run in runs)
        found = [PricedRun(run=run, bill=bill_now(run, calls[run.pk])) for run in runs]
        known = [one for one in found if one.bill.cost.amount is not None]
        uncount_runs([one.run.pk for one in known])
        for one in known:
            cost = one.bill.cost
            Run.objects.filter(pk=one.run.pk).update(
                cost=cost.amount, cost_confidence=cost.confidence, **one.bill.price_fields
            )
        for model, name in ((Conversation, "conversation_id"), (Turn, "turn_id")):
            for pk in sorted({getattr(one.run, name) for one in known} - {None}):
                _add_up(model, name, pk)
    return found


def _lock_free(model: type[Model], ids: Collection[int | None]) -> frozenset[int | None]:
    """Lock the rows that nobody else has locked; None, for no row at all, is always free."""
    rows = model._default_manager.filter(pk__in=[one for one in ids if one is not None])
    mine = rows.select_for_update(skip_locked=True).order_by("pk").values_list("pk", flat=True)
    return frozenset((None, *mine))


def _add_up(model: type[Model], name: str, pk: int) -> None:
    """Add up the costs of a turn or a conversation."""
    ended = Run.objects.filter(**{name: pk}).exclude(outcome=Outcome.RUNNING)
    sums = ended.aggregate(
        known=Sum("cost"),
        unpriced=Count("pk", filter=Q(cost=None)),
        guessed=Count("pk", filter=Q(cost_confidence=CostConfidence.ESTIMATED)),
    )
    model._default_manager.filter(pk=pk).update(
        cost=sums["known"] or 0,
        n_unpriced=sums["unpriced"],
        cost_is_estimated=sums["guessed"] > 0,
    )


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
