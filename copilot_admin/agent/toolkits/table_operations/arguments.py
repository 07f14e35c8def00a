"""How components describe the rows that they take to a model."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

# One `type` of several names, since servers differ in how they read `anyOf`.
RowsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "object"}}),
]
OperationsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | Mapping[str, Any],
    WithJsonSchema({"type": ["array", "object"], "items": {"type": "object"}}),
]
ColumnsArgument: TypeAlias = Annotated[
    Sequence[str] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]
