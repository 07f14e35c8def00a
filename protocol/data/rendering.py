"""Renders a Data message as the text that a model sees."""

from protocol.data.layout import layout
from protocol.data.message import MISSING, DataMessage, one_line

HEADING = "## Data: ¶"


def render(message: DataMessage) -> str:
    """The text of one block: heading, data, description, schema; what is absent has no line.

    Examples:
        >>> print(render(DataMessage(kind="user", data={"age": 30}, description="The user.")))
        ## Data: ¶user
        {
          "age": 30
        }
        The user.
    """
    lines = [f"{HEADING}{message.kind}"]
    if message.instance is not None:
        lines.append(f"_instance: {one_line(message.instance)}")
    if message.data is not MISSING:
        lines.append(layout(message.data))
    description = one_line(message.description)
    if description:
        lines.append(description)
    if message.schema is not MISSING:
        lines += [f"Schema for ¶{message.kind}:", layout(message.schema)]
    return "\n".join(lines)
