"""What every component has: a subclass writes `tool_eval`, the rest comes from here."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
import inspect
import json
from types import MappingProxyType
from typing import Any, ClassVar, Self

from copilot_admin.agent.components.steps import steps_of
from copilot_admin.agent.components.tracing import (
    components_run_stream_trace,
    components_run_trace,
)
from protocol.components import (
    ComponentArguments,
    ComponentOutput,
    ContentType,
    Message,
    collect,
    create_output,
    create_outputs,
    manifest_from,
    merge,
    one_usage,
    total_usage,
)
from protocol.components.manifests import parameters_of
from protocol.json import JsonObject


def _not_written(self: object, *args: Any, **kwargs: Any) -> Any:
    """The `tool_eval` of the base, which is no component.

    Source: the base class of AppBuilder's component contract raises this when it is called.
    """
    raise NotImplementedError("A component writes tool_eval.")


def _content(output: ComponentOutput) -> Any:
    if all(content.type is ContentType.TEXT for content in output.content):
        return "".join(content.text.model_dump()["info"] for content in output.content)
    return output.to_json()["content"]


def _counted(output: ComponentOutput) -> dict[str, Any]:
    return {"token_usage": one_usage(output)} if total_usage(output) else {}


class Component:
    """A unit of work that copilots, people and programs can call.

    A subclass in a file of this folder has `name`, `version` and `tool_eval`, a generator of
    outputs (async, or plain for work that blocks: a plain one runs in a thread). Its parameters
    are what a model fills in; what the system passes comes in `**kwargs`. Bad arguments are a
    `ValueError` whose text says what would be right.

    Attributes:
        name: In the address, and what a model calls it.
        version: In the address: "v1". Another version is another class.
        meta: Its arguments beyond the manifest.
        manifests: One manifest; made of signature and docstring of `tool_eval` where it is left
            out.
        content_types: The types of content that it gives; empty: any.
        samples: Inputs with which the contract is checked; the first is shown to people.
        uses: System inputs of this server that it reads, as `inputs.py` names them. The files of a
            call over HTTP are read only for a component that names them here.
        system: What the system passes to `run` besides the message.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "v1"
    meta: ClassVar[type[ComponentArguments]] = ComponentArguments
    manifests: ClassVar[Sequence[Mapping[str, Any]]] = ()
    content_types: ClassVar[Sequence[ContentType]] = ()
    samples: ClassVar[Sequence[Mapping[str, Any]]] = ()
    uses: ClassVar[Sequence[str]] = ()
    system: Mapping[str, Any] = MappingProxyType({})

    create_output = staticmethod(create_output)
    create_outputs = staticmethod(create_outputs)

    def __init__(self, meta: type[ComponentArguments] | None = None, **kwargs: Any) -> None:
        """Takes what a copilot's builder set.

        Args:
            meta: What the contract's own example passes; the class says it already.
            **kwargs: The settings.
        """
        self.config: Mapping[str, Any] = kwargs

    @classmethod
    def made(cls, config: Mapping[str, Any]) -> Self:
        """An instance with what a builder set, of which `__init__` gets what it takes."""
        parameters = inspect.signature(cls.__init__).parameters
        if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            return cls(**config)
        made = cls(**{name: value for name, value in config.items() if name in parameters})
        made.config = config
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "tool_eval" not in vars(cls):
            return
        cls.tool_eval = components_run_stream_trace(cls.tool_eval)
        if "manifests" not in vars(cls):
            summary = cls.documentation().partition("\n\n")[0]
            cls.manifests = (manifest_from(cls.tool_eval, name=cls.name, summary=summary),)

    # The parameters are the subclass's own, so no signature fits all of them.
    tool_eval: Any = _not_written

    @components_run_trace
    async def run(
        self, message: Message, stream: bool = False, temperature: float | None = None
    ) -> Message:
        """Takes a message and gives one: the entry for programs.

        Args:
            message: The parameters by name, or the value of the only one.
            stream: The content is an async generator of pieces as they come.
            temperature: Of the model, for a component that asks one; None: as the caller's
                `model_configs` or the copilot say.

        Returns:
            The text of the result where it is nothing but text, else its content items; with
            `token_usage` where a model was asked. Of a stream each piece is one of the two, and
            `token_usage` is there when the last has come.

        Raises:
            NotImplementedError: The component has no `tool_eval`.
            ValueError: What the component says of bad arguments.
        """
        if type(self).tool_eval is Component.tool_eval:
            _not_written(self)
        inputs = {**self.system, **self._inputs(message)}
        if temperature is not None:
            configs = inputs.get("model_configs") or {}
            inputs["model_configs"] = {**configs, "temperature": temperature}
        if stream:
            answer = Message()
            answer.content = self._pieces(inputs, answer)
            return answer
        output = merge([output async for output in self.stream(**inputs)])
        return Message(_content(output), **_counted(output))

    async def _pieces(
        self, inputs: Mapping[str, Any], answer: Message
    ) -> AsyncGenerator[Any, None]:
        outputs: list[ComponentOutput] = []
        async with aclosing(self.stream(**inputs)) as stream:
            async for output in stream:
                outputs.append(output)
                if (piece := _content(output)) not in ("", []):
                    yield piece
        for name, usage in _counted(merge(outputs)).items():
            setattr(answer, name, usage)

    async def __call__(self, message: Message) -> Message:
        return await self.run(message)

    async def batch(self, *messages: Message) -> list[Message]:
        """Runs one message after the other."""
        return [await self.run(message) for message in messages]

    async def stream(self, **inputs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """The outputs of `tool_eval`, whether it is async or plain."""
        async with aclosing(steps_of(self.tool_eval(**inputs), name=self.name)) as outputs:
            async for output in outputs:
                yield output

    async def non_stream_tool_eval(self, **inputs: Any) -> ComponentOutput:
        """All content items of a run, each as it came."""
        return collect([output async for output in self.stream(**inputs)])

    @classmethod
    def parameters(cls) -> JsonObject:
        """The JSON Schema of what a caller fills in."""
        schema: JsonObject = cls.manifests[0]["parameters"]
        return schema

    @classmethod
    def description(cls) -> str:
        """What it does, in the words that models read."""
        return str(cls.manifests[0]["description"])

    @classmethod
    def documentation(cls) -> str:
        """The docstring of the class, or of the component that it is a version of."""
        own = cls.__mro__[: cls.__mro__.index(Component)]
        return next((inspect.cleandoc(one.__doc__) for one in own if one.__doc__), "")

    @classmethod
    def summary(cls) -> str:
        """What it does, in one line for people: the first of the class's docstring."""
        return (cls.documentation() or cls.description()).partition("\n")[0]

    @classmethod
    def tool_name(cls) -> list[str]:
        """The names under which models call it."""
        return [manifest["name"] for manifest in cls.manifests]

    @classmethod
    def as_openai_tools(cls) -> list[JsonObject]:
        """The manifests in the form in which a request to an OpenAI-compatible API has them.

        Raises:
            ValueError: There is none.
        """
        if not cls.manifests:
            raise ValueError(f"The component {cls.__name__} has no manifest.")
        return [{"type": "function", "function": dict(manifest)} for manifest in cls.manifests]

    @classmethod
    def tool_desc(cls) -> list[str]:
        """The manifests as JSON texts."""
        return [json.dumps(manifest, ensure_ascii=False) for manifest in cls.manifests]

    def _inputs(self, message: Message) -> Mapping[str, Any]:
        if isinstance(message.content, Mapping):
            return message.content
        names = [parameter.name for parameter in parameters_of(self.tool_eval)]
        required = [*(self.parameters().get("required") or names)][:1]  # type: ignore[misc]
        return dict.fromkeys(required, message.content)
