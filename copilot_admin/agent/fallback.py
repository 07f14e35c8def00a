"""Ask the models of a copilot in order until one begins to answer."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.engine_input import EngineInput, FallbackUsed
from copilot_admin.agent.values.model_call import Delta, ModelCall, ModelTarget
from copilot_admin.errors import RunError


class ModelTargets:
    """The models that may answer a question; the one that answered once is asked again first."""

    def __init__(self, engine_input: EngineInput, *, model: str, pace: Pace) -> None:
        spec = engine_input.spec.provider
        own = ModelTarget(model=model, spec=spec, provider=engine_input.provider)
        others = (
            one
            for one in engine_input.fallbacks
            if (one.spec.name, one.model) != (spec.name, model)
        )
        self._left = [own, *others]
        self._witness = engine_input.witness
        self._pace = pace

    @property
    def current(self) -> ModelTarget:
        return self._left[0]

    def apply(self, engine_input: EngineInput) -> EngineInput:
        """Return the input with the provider that is asked now."""
        target = self.current
        if target.provider is engine_input.provider:
            return engine_input
        spec = replace(engine_input.spec, provider=target.spec)
        return replace(engine_input, provider=target.provider, spec=spec)

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | FallbackUsed, None]:
        """Stream an answer to the call, whose model is replaced by that of each target.

        Raises:
            RunError: The last model failed, or one failed after its first word.
        """
        while True:
            target = self.current
            started = False
            stream = stream_model(
                target.provider,
                replace(call, model=target.model),
                timeouts=target.spec.timeouts,
                pace=self._pace,
                witness=self._witness,
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
                    provider=self.current.spec.name,
                    model=self.current.model,
                )
