"""Schemas of the HTTP API, for its OpenAPI document: the views read and write JSON themselves."""

from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from ninja.openapi.schema import REF_TEMPLATE
from pydantic import BaseModel, Field

SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same."},
}
SECURED: dict[str, Any] = {"security": [{"bearer": []}, {"key": []}]}
EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
SHARED_SCHEMAS: dict[str, Any] = {}  # of request bodies, by name


class Problem(Schema):
    """Error of discovery, queries and feedback."""

    detail: str = Field(description="What is wrong, and what to do.")
    code: str


class ComponentProblem(Schema):
    """Error of the component API."""

    request_id: str
    code: str
    message: str = Field(description="What is wrong, and what to do.")


class Manifest(Schema):
    name: str
    description: str
    parameters: dict[str, Any] = Field(description="A JSON Schema.")


class ComponentVersion(Schema):
    name: str
    version: str
    description: str
    manifests: list[Manifest]


class CatalogueEntry(ComponentVersion):
    versions: list[str]


class ContentElement(Schema):
    name: str
    type: str = Field(description="Decides the keys of `text`.")
    text: dict[str, Any]
    visible_scope: Literal["all", "llm", "user"]
    raw_data: dict[str, Any]
    usage: dict[str, Any]
    metrics: dict[str, Any]
    event: dict[str, str] = Field(description="Its id, status, name and created_time.")


class ComponentAnswer(Schema):
    """Merged result of a call, or a part of it in a stream."""

    request_id: str
    conversation_id: str
    message_id: UUID
    trace_id: str
    user_id: str
    end_user_id: str | None = None
    is_completion: bool
    status: Literal["running", "done", "error"]
    role: Literal["tool", "assistant", "user"]
    content: list[ContentElement]
    code: str | None = Field(None, description="In a stream that failed.")
    message: str | None = Field(None, description="In a stream that failed.")


class QueryBody(Schema):
    """The whole conversation as OpenBB Workspace sends it, in any protocol generation.

    The last message is the question, or the result of a function call.
    """

    messages: list[dict[str, Any]] = Field(
        min_length=1, description="Each with a `role` (human, ai or tool) and `content`, or data."
    )
    widgets: dict[str, Any] = {}
    context: list[dict[str, Any]] = []
    urls: list[str] = []
    workspace_options: dict[str, Any] = {}
    timezone: str = ""
    model: str = ""


def describe_body(model: type[BaseModel], **example: Any) -> dict[str, Any]:
    """Return the part of an operation about a body that its view reads itself."""
    schema = model.model_json_schema(ref_template=REF_TEMPLATE)
    SHARED_SCHEMAS.update(schema.pop("$defs", {}))
    content = {"schema": schema, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}
