"""The tokens of several calls of models, added up."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage, UsageSource


def sums_by_model(usages: Sequence[Usage]) -> tuple[Usage, ...]:
    """A sum for each model that was asked; none where nobody said any."""
    if len(usages) < 2:
        return tuple(usages)
    by_model: dict[str, list[Usage]] = {}
    for usage in usages:
        by_model.setdefault(usage.model, []).append(usage)
    return tuple(replace(sum_of(some), model=model) for model, some in by_model.items())


def sum_of(usages: Sequence[Usage]) -> Usage:
    """The tokens of several calls, estimated if those of one are; of no certain model."""
    if len(usages) == 1 and not usages[0].model:
        return usages[0]
    costs = [usage.cost for usage in usages]
    known = [cost for cost in costs if cost is not None]
    estimated = any(usage.source is UsageSource.ESTIMATED for usage in usages)
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        reasoning_tokens=sum(usage.reasoning_tokens for usage in usages),
        source=UsageSource.ESTIMATED if estimated else UsageSource.PROVIDER,
        cost=sum(known, Decimal(0)) if known and len(known) == len(costs) else None,
    )
