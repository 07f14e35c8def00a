"""Call the models of a copilot in order until one begins to answer."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.values.answer_request import AnswerRequest, FallbackUsed
from copilot_admin.agent.values.model_call import Delta, ModelCall, ModelTarget
from copilot_admin.errors import RunError


class ModelTargets:
    """Models for one step, in order; those that failed are not called again."""

    def __init__(self, request: AnswerRequest, *, model: str) -> None:
        spec = request.spec.provider
        own = ModelTarget(model=model, spec=spec, provider=request.provider)
        others = (
            one for one in request.fallbacks if (one.spec.name, one.model) != (spec.name, model)
        )
        self._left = [own, *others]
        self._tracer = request.tracer

    def apply(self, request: AnswerRequest) -> AnswerRequest:
        target = self._left[0]
        spec = replace(request.spec, provider=target.spec)
        return replace(request, provider=target.provider, spec=spec)

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | FallbackUsed, None]:
        """Stream an answer to the call, whose model is replaced by that of each target.

        Raises:
            RunError: The last model failed, or one failed after its first output.
        """
        while True:
            target = self._left[0]
            started = False
            stream = stream_model(
                target.provider,
                replace(call, model=target.model),
                timeouts=target.spec.timeouts,
                tracer=self._tracer,
            )
            try:
                async with aclosing(stream) as deltas:
                    async for delta in deltas:
                        started = True
                        yield delta
                return
            except RunError as error:
                if started or len(self._left) == 1:
                    raise
                self._left.pop(0)
                yield FallbackUsed(
                    failed_provider=target.spec.name,
                    failed_model=target.model,
                    error=error.detail or error.public,
                    provider=self._left[0].spec.name,
                    model=self._left[0].model,
                )
