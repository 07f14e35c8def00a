"""Renders a Data message as the text that a model sees."""

from protocol.data.layout import laid_out
from protocol.data.message import MISSING, DataMessage, one_line

HEADING = "## Data: ¶"
INSTANCE = "_instance: "


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
    pieces = [f"{HEADING}{message.kind}"]
    if message.instance is not None:
        pieces.append(f"\n{INSTANCE}{one_line(message.instance)}")
    if message.data is not MISSING:
        pieces += ("\n", *laid_out(message.data))
    description = one_line(message.description)
    if description:
        pieces.append(f"\n{description}")
    if message.schema is not MISSING:
        pieces += (f"\nSchema for ¶{message.kind}:\n", *laid_out(message.schema))
    return "".join(pieces)


def taken_apart(text: str) -> tuple[str, str, str]:
    r"""The kind, the instance (empty: none) and the rest of a text that `render` wrote.

    Examples:
        >>> taken_apart(render(DataMessage(kind="user", data=[], instance="a", description="b")))
        ('user', 'a', '[]\nb')
    """
    heading, _, rest = text.partition("\n")
    instance = ""
    if rest.startswith(INSTANCE):
        instance, _, rest = rest.removeprefix(INSTANCE).partition("\n")
    return heading.removeprefix(HEADING), instance, rest
