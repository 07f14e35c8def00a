"""Charges a run that has ended to the budgets of who asked."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.errors import Unavailable
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import to_nano_dollars
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.pricing.cost import Cost, RunCost
from copilot_admin.storage.writer import READER


async def settle(
    admission: Admission,
    usages: Sequence[Usage],
    *,
    cost: Cost | None,
    reckon: Callable[[], RunCost],
) -> None:
    """Charges a run; who asks again at once finds room where there is some.

    Args:
        admission: That let it in.
        usages: Of its calls of models.
        cost: As the journal reckoned it; None: it did not.
        reckon: Reads what it cost.
    """
    if not admission.is_open:
        return
    tokens = sum(one.input_tokens + one.output_tokens for one in usages)
    if cost is None and admission.counts_money:
        with suppress(Unavailable):  # then nobody knows what it cost
            cost = (await READER.run(reckon)).cost
    amount = cost.amount if cost else None
    if amount is None:
        await admission.end(LimitUsage(tokens=tokens, unpriced=1))
    else:
        await admission.end(LimitUsage(tokens=tokens, nano_usd=to_nano_dollars(amount)))
