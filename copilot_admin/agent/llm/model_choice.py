"""Choice of the model that answers, its parameters and suggested questions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from itertools import islice

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.values.answer_request import AnswerRequest, Output
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    ModelTarget,
    TextDelta,
    Usage,
    estimated_usage,
)
from copilot_admin.agent.values.spec import CopilotSpec, Timeouts
from copilot_admin.errors import RunError
from protocol.events import PromptSuggestions
from protocol.features import CustomFeature, CustomFeatureType
from protocol.json import clean_text, json_of, list_of
from protocol.models import Generation, Query

# A builder's parameters tune the model, but can't replace members that define the request.
RESERVED_PARAMETERS = frozenset({"model", "messages", "tools", "stream", "stream_options", "n"})
FEATURE = "prompt-suggestions"
MAX_SUGGESTIONS = 3
MAX_SUGGESTION_CHARACTERS = 200
_REQUEST = (
    f"Suggest {MAX_SUGGESTIONS} short questions that I might ask you next. Answer with nothing but "
    "a JSON list of texts, in the language of this conversation."
)


def option(feature: CustomFeature, *, query: Query) -> bool | str:
    """Return the value of a custom feature in a query.

    A client that sends options omits toggles that are off, so an absent toggle is off. If the
    client sends no options, or a value that the control can't have, the default applies.
    """
    sent = query.workspace_options.get(feature.key)
    if sent is not None:
        return sent if _fits(sent, feature) else feature.default
    if feature.type is CustomFeatureType.TOGGLE and query.env.get("workspace_options") is not None:
        return False
    return feature.default


def option_notes(spec: CopilotSpec, query: Query) -> Iterator[str]:
    """Yield a sentence for the run about each value that its control can't have."""
    for feature in spec.custom_features:
        sent = query.workspace_options.get(feature.key)
        if sent is not None and not _fits(sent, feature):
            yield (
                f"The client sent {str(sent)[:100]!r} for the option {feature.key!r}, which is "
                f"no value of this {feature.type.value}; its default {feature.default!r} is used."
            )


def _fits(value: bool | str, feature: CustomFeature) -> bool:
    if feature.type is CustomFeatureType.SELECT:
        return value in [option for _, option in feature.options]
    return isinstance(value, bool if feature.type is CustomFeatureType.TOGGLE else str)


def _find_active_control(spec: CopilotSpec, query: Query) -> CustomFeature | None:
    """Return the first control with its own model that is on, such as web search."""
    controls = (one for one in spec.custom_features if one.model)
    return next((one for one in controls if option(one, query=query) is True), None)


def switched_provider(spec: CopilotSpec, query: Query) -> str:
    """Return the provider that an active control selects; empty for the copilot's own."""
    control = _find_active_control(spec, query)
    return control.provider if control else ""


def choose_model(spec: CopilotSpec, query: Query) -> tuple[str, str]:
    """Return the id of the model to call, and a note for the run (empty if not needed).

    A client may pick only an offered model: a request never decides freely which model uses the
    provider's key. An active control has precedence over the client's pick.
    """
    if control := _find_active_control(spec, query):
        return control.model, ""
    wanted = query.model
    if not wanted or wanted == spec.model or wanted in dict(spec.models):
        return wanted or spec.model, ""
    return spec.model, f"The client asked for the unknown model {wanted!r}; {spec.model!r} answers."


# The user reads the answer during this time; later suggestions come too late.
_TIMEOUTS = Timeouts(connect=5.0, first_token=8.0, between_tokens=4.0, total=12.0)


def wants_suggestions(request: AnswerRequest) -> bool:
    """Return whether suggestions are offered and on; Workspace sends no options that are off."""
    is_on = request.query.workspace_options.get(FEATURE) is True
    return is_on and request.spec.has(FEATURE) and request.query.generation is Generation.THREE


async def suggest_questions(
    request: AnswerRequest,
    conversation: Sequence[ModelMessage],
    send: Callable[[Output], None],
    *,
    target: ModelTarget,
) -> None:
    """Send the usage and at most one `PromptSuggestions`, which is omitted if the model fails."""
    call = ModelCall(
        model=target.model,
        messages=(*conversation, ModelMessage(role=ModelRole.USER, text=_REQUEST)),
        parameters=request.spec.parameters,
        user=request.upstream_user,
    )
    text = ""
    stream = stream_model(target.provider, call, timeouts=_TIMEOUTS, tracer=request.tracer)
    with suppress(RunError):
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    text += delta.text
                elif isinstance(delta, Usage):
                    send(delta)
        if questions := _read_questions(text):
            send(PromptSuggestions(questions))
        return
    if text:  # it has a cost, but no usage was reported
        send(estimated_usage(call, written=len(text)))


def _read_questions(text: str) -> tuple[str, ...]:
    listed = list_of(json_of(text[text.find("[") : text.rfind("]") + 1]))
    texts = (" ".join(clean_text(one).split()) for one in listed if isinstance(one, str))
    fitting = (one for one in dict.fromkeys(texts) if 0 < len(one) <= MAX_SUGGESTION_CHARACTERS)
    return tuple(islice(fitting, MAX_SUGGESTIONS))
