"""Bodies of component calls."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from copilot_admin.errors import InvalidCall
from protocol.components import is_reserved
from protocol.json import Json, JsonObject, loads, object_of

COPILOT = "_sys_copilot"  # the slug of the copilot that lends its model
MAX_FAULTS = 3  # in a message
ShortText = Annotated[str, Field(max_length=200)]
Model = TypeVar("Model", bound=BaseModel)


class Input(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())


class ChatMessage(Input):
    role: Literal["user", "assistant"]
    content: str


class FileAddress(Input):
    url: str
    filename: str | None = None


class ModelConfigs(Input):
    temperature: float | None = None
    top_p: float | None = None


class CallParameters(Input):
    """The arguments that the manifest names, and the system inputs that a caller may set."""

    origin_query: str | None = Field(
        None,
        alias="_sys_origin_query",
        description="The user's words. They fill in the one required parameter that is missing.",
    )
    file_urls: dict[str, str] | None = Field(
        None, alias="_sys_file_urls", description="Files by name. They are read and passed as text."
    )
    sys_uploaded_files: list[FileAddress] | None = Field(
        None, alias="_sys_uploaded_files", description="The same as a list."
    )
    uploaded_files: list[FileAddress] | None = None
    conversation_id: ShortText | None = Field(None, alias="_sys_conversation_id")
    end_user_id: ShortText | None = Field(None, alias="_sys_end_user_id")
    chat_history: list[ChatMessage] | None = Field(None, alias="_sys_chat_history")
    file_names: list[str] | None = Field(None, alias="_sys_file_names")
    user_instruction: str | None = Field(None, alias="_sys_user_instruction")
    custom_variables: dict[str, Any] | None = Field(None, alias="_sys_custom_variables")
    model_configs: ModelConfigs | None = None
    copilot: ShortText | None = Field(
        None, alias=COPILOT, description="The copilot whose model and settings are used."
    )


class CallBody(Input):
    stream: bool | None = False
    parameters: CallParameters | None = None


class RunOptions(Input):
    """Arguments of the action `run` itself: `run(message, stream, temperature)`."""

    stream: bool | None = None
    temperature: float | None = Field(None, ge=0, le=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Request of a caller: arguments and system inputs, and the slug of a copilot, if any."""

    stream: bool
    parameters: JsonObject
    copilot: str


def read_body(body: bytes) -> Body:
    """Parse a body; raise `MalformedJson` or `InvalidCall`."""
    value = loads(body)
    call = _validate(CallBody, value, 'Send {"stream": false, "parameters": {...}}. ')
    given = object_of(object_of(value).get("parameters"))
    parameters = {
        name: one for name, one in given.items() if one is not None or not is_reserved(name)
    }
    copilot = str(given.get(COPILOT) or "")
    return Body(stream=bool(call.stream), parameters=parameters, copilot=copilot)


def for_run(body: Body, parameters: Collection[str]) -> Body:
    """Return the body of the action `run`, whose own arguments may stand among the parameters.

    The component's own parameters, whose names are given, take precedence.
    """
    own = {
        name: body.parameters[name]
        for name in RunOptions.model_fields
        if name in body.parameters and name not in parameters
    }
    options = _validate(RunOptions, own)
    others = {name: value for name, value in body.parameters.items() if name not in own}
    if options.temperature is not None:
        configs = object_of(others.get("model_configs"))
        others["model_configs"] = {**configs, "temperature": options.temperature}
    return replace(body, stream=body.stream or options.stream is True, parameters=others)


def _validate(model: type[Model], value: Json, lead: str = "") -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors()
        )
        text = lead + "; ".join(islice(faults, MAX_FAULTS))
        raise InvalidCall(text, code="bad-parameters") from error
