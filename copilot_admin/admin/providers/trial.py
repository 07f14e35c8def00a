"""Tries a provider with the smallest question there is."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic

from asgiref.sync import async_to_sync
from django.utils.translation import gettext as _

from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelProvider,
    ModelRole,
    ReasoningDelta,
    TextDelta,
)
from copilot_admin.errors import ConfigurationError, RunError

QUESTION = "Answer with the one word: ready"
MOST_TOKENS = 16
PATIENCE_S = 30.0  # a person waits for the page; the provider's own patience is for answers


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTrial:
    """Whether a provider answered when it was tested, with the sentence to show.

    Attributes:
        first_token_ms: Milliseconds to the first piece of text; None when none came.
        problem: What went wrong, in words; empty when all went well.
    """

    model: str
    first_token_ms: int | None = None
    problem: str = ""


def try_provider(provider: ModelProvider, *, model: str) -> ProviderTrial:
    """Asks the model for one word and stops at the first piece of it.

    Args:
        provider: Ready to be asked.
        model: Its id; empty: the first that the provider offers.
    """
    return async_to_sync(_try)(provider, model)


async def _try(provider: ModelProvider, model: str) -> ProviderTrial:
    try:
        async with asyncio.timeout(PATIENCE_S):
            wanted = model or next(iter(await provider.models()), "")
            if not wanted:
                return ProviderTrial(
                    model="", problem=_("The provider offers no model. Name one to try.")
                )
            return ProviderTrial(
                model=wanted, first_token_ms=await _first_token_ms(provider, wanted)
            )
    except TimeoutError:
        waited = _("No text came within %(seconds)d seconds.") % {"seconds": PATIENCE_S}
        return ProviderTrial(model=model, problem=waited)
    except (RunError, ConfigurationError) as error:
        return ProviderTrial(model=model, problem=error.public)


async def _first_token_ms(provider: ModelProvider, model: str) -> int:
    call = ModelCall(
        model=model,
        messages=(ModelMessage(role=ModelRole.USER, text=QUESTION),),
        parameters={"max_tokens": MOST_TOKENS},
    )
    started = monotonic()
    async with aclosing(provider.stream(call)) as deltas:
        async for delta in deltas:
            match delta:
                case TextDelta() | ReasoningDelta() | Finish():
                    break
    return round((monotonic() - started) * 1000)
