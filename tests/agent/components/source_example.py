"""`SimilarQuestion` as the component contract of AppBuilder has it, with our imports.

Source: the guide to contributing components; names, defaults and bodies are the contract's.
"""

from collections.abc import Iterator
from typing import Any
import warnings

from pydantic import Field

from copilot_admin.agent.components.base import (
    CompletionBaseComponent,
    components_run_stream_trace,
    components_run_trace,
)
from protocol.components import ComponentArguments, ComponentOutput, Message

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # keys beside pydantic's own in `Field`

    class SimilarQuestionMeta(ComponentArguments):
        """SimilarQuestionMeta"""

        message: Message = Field(  # type: ignore[call-overload]
            ..., variable_name="query", description="输入消息,用于模型的输入,一般为问题。"
        )


class SimilarQuestion(CompletionBaseComponent):
    r"""基于输入的问题, 挖掘出与该问题相关的类似问题。广泛用于客服、问答等场景。"""

    name = "similar_question"
    version = "v1"
    meta = SimilarQuestionMeta

    manifests = [
        {
            "name": "similar_question",
            "description": "基于输入的问题,挖掘出与该问题相关的类似问题。",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "输入的问题,用于大模型根据该问题输出相关的类似问题。",
                    }
                },
                "required": ["query"],
            },
        }
    ]

    def __init__(
        self,
        model: str = "Qianfan-Agent-Speed-8K",
        secret_key: str | None = None,
        gateway: str = "",
        lazy_certification: bool = True,
    ) -> None:
        super().__init__(
            SimilarQuestionMeta,
            model=model,
            secret_key=secret_key,
            gateway=gateway,
            lazy_certification=lazy_certification,
        )

    @components_run_stream_trace
    def tool_eval(self, query: str, **kwargs: Any) -> Iterator[ComponentOutput]:
        traceid = kwargs.get("_sys_traceid")
        msg = Message(query)
        model_configs = kwargs.get("model_configs", {})
        temperature = model_configs.get("temperature", 1e-10)
        top_p = model_configs.get("top_p", 0.0)
        message: Any = super().run(
            message=msg, stream=False, temperature=temperature, top_p=top_p, request_id=traceid
        )
        yield self.create_output(
            type="text", text=str(message.content), name="text", usage=message.token_usage
        )


class SimilarQuestionWithRun(SimilarQuestion):
    """The same with the `run` of the contract's first example, and with a stream in `tool_eval`."""

    name = "similar_question_with_run"
    manifests = [{**SimilarQuestion.manifests[0], "name": "similar_question_with_run"}]

    @components_run_trace
    def run(self, message: Message, stream: bool = False, temperature: float = 1e-10) -> Any:  # type: ignore[override]  # as the contract has it
        return super().run(message=message, stream=stream, temperature=temperature)

    def tool_eval(self, query: str, **kwargs: Any) -> Iterator[ComponentOutput]:
        message: Any = CompletionBaseComponent.run(self, Message(query), stream=True)
        for piece in message.content:
            yield self.create_output("text", piece)
