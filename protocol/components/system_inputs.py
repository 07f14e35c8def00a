"""The inputs that the system gives a component besides what its manifest names.

Source: the reserved names of AppBuilder's component contract; components read them with
`kwargs.get(name, default)` and work when all are absent.
"""

from collections.abc import Mapping
from typing import Any

PREFIX = "_sys_"
CALLER_MAY_SET = frozenset(
    {
        "_sys_origin_query",
        "_sys_file_urls",
        "_sys_file_names",
        "_sys_conversation_id",
        "_sys_end_user_id",
        "_sys_chat_history",
        "_sys_user_instruction",
        "_sys_custom_variables",
        "_sys_uploaded_files",
    }
)
OTHER_RESERVED = frozenset({"model_configs", "uploaded_files", "traceid"})


def is_reserved(name: str) -> bool:
    """Whether a manifest may not have a parameter of this name.

    Examples:
        >>> is_reserved("_sys_traceid"), is_reserved("uploaded_files"), is_reserved("name")
        (True, True, False)
    """
    return name.startswith(PREFIX) or name in OTHER_RESERVED


def from_caller(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The system inputs among the parameters of a request that a caller may set.

    What only the server sets is left out without a word, so that it cannot be forged.
    """
    allowed = CALLER_MAY_SET | {"model_configs", "uploaded_files"}
    return {name: value for name, value in parameters.items() if name in allowed}
