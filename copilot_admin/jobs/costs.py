"""Costs of runs whose model got a price later: recomputed in short batches, and summed again."""

from collections.abc import Iterator, Mapping, Sequence
import time
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Conversation, CostConfidence, Event, EventType, Outcome, Run, Turn
from copilot_admin.pricing.cost import UNKNOWN_COST, RunCost, calculate_run_cost, mark_estimated
from copilot_admin.pricing.prices import PRICE_FIELDS, Price
from copilot_admin.storage import blobs
from copilot_admin.transcripts.store.rollups import uncount_runs

BATCH_RUNS = 20  # in one transaction, some 30 ms


def price_unknown_runs(
    *, provider: str = "", saving: bool = False
) -> Iterator[tuple[Run, RunCost]]:
    """Yield the runs of unknown cost, of one provider if named, and their cost by today's prices.

    With `saving`, the costs are saved, with a pause as long as each batch took.
    """
    rows = _get_unpriced().order_by("pk")
    ids = (rows.filter(provider=provider) if provider else rows).values_list("pk", flat=True)
    batch = list(ids[:BATCH_RUNS])
    while batch:
        started = time.monotonic()
        with transaction.atomic():
            runs = _get_unpriced().filter(pk__in=batch).order_by("pk")
            runs = runs.select_for_update(of=("self",)) if saving else runs
            priced = [(run, _calculate(run)) for run in runs]
            if saving:
                _save_costs([one for one in priced if one[1].cost.amount is not None])
        if saving:
            time.sleep(time.monotonic() - started)
        yield from priced
        batch = list(ids.filter(pk__gt=batch[-1])[:BATCH_RUNS])


def _save_costs(known: Sequence[tuple[Run, RunCost]]) -> None:
    """Save the costs of runs, and sum up those of their turns and conversations again."""
    uncount_runs([run.pk for run, _ in known])
    for run, bill in known:
        Run.objects.filter(pk=run.pk).update(
            cost=bill.cost.amount, cost_confidence=bill.cost.confidence, **bill.price_fields
        )
    for model, name in ((Conversation, "conversation_id"), (Turn, "turn_id")):
        for pk in sorted({getattr(run, name) for run, _ in known} - {None}):
            ended = Run.objects.filter(**{name: pk}).exclude(outcome=Outcome.RUNNING)
            sums = ended.aggregate(
                known=Sum("cost"),
                unpriced=Count("pk", filter=Q(cost=None)),
                estimated=Count("pk", filter=Q(cost_confidence=CostConfidence.ESTIMATED)),
            )
            model._default_manager.filter(pk=pk).update(
                cost=sums["known"] or 0,
                n_unpriced=sums["unpriced"],
                cost_is_estimated=sums["estimated"] > 0,
            )


def _get_unpriced() -> QuerySet[Run]:
    runs = Run.objects.filter(cost=None).exclude(outcome=Outcome.RUNNING)
    return runs.select_related("copilot_version")


def _calculate(run: Run) -> RunCost:
    usages = _get_usages(run)
    if usages is None:
        return RunCost(UNKNOWN_COST)
    prices: dict[str, Any] = {kind: getattr(run, f"{kind}_price") for kind in PRICE_FIELDS[:4]}
    has_price = prices["input"] is not None and prices["output"] is not None
    bill = calculate_run_cost(
        usages,
        provider=run.provider,
        model=run.model,
        at=run.started_at,
        outcome=Outcome(run.outcome),
        stored_price=Price(**prices) if has_price else None,
    )
    if run.conversation_id is None and usages:
        # Calls of components, which may have used other models, aren't stored either.
        return RunCost(mark_estimated(bill.cost), bill.price)
    return bill


def _get_usages(run: Run) -> Sequence[Usage] | None:
    if not run.usage_source:
        return ()
    others: list[Usage] = []
    calls = Event.objects.filter(run=run.pk, type=EventType.COMPONENT).order_by("ord")
    for call in calls:
        sha = call.blob_id
        payload: Any = blobs.load([sha]).get(sha) if sha else call.payload
        if not isinstance(payload, Mapping):
            return None
        others += [
            Usage(
                input_tokens=usage["prompt_tokens"],
                output_tokens=usage["completion_tokens"],
                model=usage["name"],
            )
            for usage in payload.get("usage", ())
        ]
    input_tokens = run.input_tokens - sum(usage.input_tokens for usage in others)
    output_tokens = run.output_tokens - sum(usage.output_tokens for usage in others)
    if input_tokens < 0 or output_tokens < 0:
        return None
    if others and not (input_tokens or output_tokens):  # only components used models
        return others
    own = Usage(
        input_tokens=input_tokens,
        cached_tokens=run.cached_tokens,
        output_tokens=output_tokens,
        reasoning_tokens=run.reasoning_tokens,
        source=UsageSource(run.usage_source),
    )
    return (own, *others)
