"""Questions that the user may ask next: made by the model, after the answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
import json

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.engine_input import EngineInput, Output
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    Usage,
    estimated_usage,
)
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import RunError
from protocol.events import PromptSuggestions
from protocol.generations import Generation
from protocol.storable import clean_text

FEATURE = "prompt-suggestions"
MOST = 3
LONGEST = 200  # characters of a question
# The user reads the answer meanwhile; what comes later than this comes too late.
_PATIENCE = Timeouts(connect=5.0, first_token=8.0, between_tokens=4.0, total=12.0)
_MOST_CHARACTERS = 16 * 1024  # a few questions; what is longer is something else
_WISH = (
    f"Suggest {MOST} short questions that I might ask you next. Answer with nothing but a JSON "
    "list of texts, in the language of this conversation."
)


async def suggestions(
    engine_input: EngineInput, said: Sequence[ModelMessage], *, model: str, pace: Pace
) -> AsyncGenerator[Output, None]:
    """Yields at most one `PromptSuggestions`; it is for those who want them, see `are_wanted`.

    A model that fails harms no answer.

    Args:
        engine_input: Whose provider is asked.
        said: The conversation with the answer, which ends with it.
        model: That gave the answer.
        pace: Of retries.
    """
    call = _wish(engine_input, said, model=model)
    texts: list[str] = []
    left = _MOST_CHARACTERS
    try:
        stream = stream_model(
            engine_input.provider,
            call,
            timeouts=_PATIENCE,
            pace=pace,
            witness=engine_input.witness,
        )
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    texts.append(delta.text)
                    left -= len(delta.text)
                elif isinstance(delta, Usage):
                    yield delta
                if left < 0:
                    break
    except RunError:
        left = -1
    if left < 0:
        if texts:  # they cost something, and nobody tells what
            yield estimated_usage(call, written=sum(map(len, texts)))
        return
    questions = _questions("".join(texts))
    if questions:
        yield PromptSuggestions(questions)


def _wish(engine_input: EngineInput, said: Sequence[ModelMessage], *, model: str) -> ModelCall:
    return ModelCall(
        model=model,
        messages=(*said, ModelMessage(role=ModelRole.USER, text=_WISH)),
        parameters=engine_input.spec.parameters,
        user=engine_input.told_user,
    )


def are_wanted(engine_input: EngineInput) -> bool:
    """Whether they are offered and switched on.

    Source: Workspace sends an option while it is on, and nothing while it is off.
    """
    is_on = engine_input.query.workspace_options.get(FEATURE) is True
    return (
        is_on
        and engine_input.spec.has(FEATURE)
        and engine_input.query.generation is Generation.THREE
    )


def _questions(text: str) -> tuple[str, ...]:
    start, end = text.find("["), text.rfind("]")
    try:
        listed = json.loads(text[start : end + 1]) if 0 <= start < end else []
    except (ValueError, RecursionError):
        return ()
    questions = (" ".join(clean_text(one).split()) for one in listed if isinstance(one, str))
    return tuple(one for one in dict.fromkeys(questions) if 0 < len(one) <= LONGEST)[:MOST]
