"""The message that components take and give, and the description of their arguments.

Source: `Message` and `ComponentArguments` of AppBuilder's component contract.
"""

from enum import Enum
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, computed_field


class Message(BaseModel):
    """What flows between components: any content, and what kind of thing it is.

    Examples:
        >>> Message("hello").content, Message(["a"]).mtype, Message().content
        ('hello', 'list', {})
    """

    model_config = ConfigDict(extra="allow")

    content: Any = Field(default_factory=dict)
    name: str = "msg"
    id: str = Field(default_factory=lambda: str(uuid4()))

    def __init__(self, content: Any = None, **more: Any) -> None:
        super().__init__(**({"content": content} if content is not None else {}), **more)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mtype(self) -> str:
        """The type of the content: "str", "list", "dict"."""
        return type(self.content).__name__


class ComponentArguments(BaseModel):
    """What a component is told beyond its parameters; its `meta` is a subclass."""

    name: str = ""
    tool_desc: dict[str, Any] = Field(default_factory=dict)

    def extract_values_to_dict(self) -> dict[str, Any]:
        """The values of the fields that have schema extras, by their `variable_name`.

        A field with a variable name gives text: the content of a message, the value of an enum.
        One with other extras gives its value under its own name; one without is left out.
        """
        values: dict[str, Any] = {}
        for name, field in type(self).model_fields.items():
            extras = field.json_schema_extra
            if not isinstance(extras, dict):
                continue
            variable = extras.get("variable_name")
            value = getattr(self, name)
            values[str(variable or name)] = _as_text(value) if variable else value
        return values


def _as_text(value: object) -> str:
    if isinstance(value, Message):
        return str(value.content)
    return str(value.value if isinstance(value, Enum) else value)
