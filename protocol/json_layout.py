"""JSON text for models: structure on lines of its own, small flat values on one line.

Source: the published example of Acts of Emergence 005. Strings are escaped, including Unicode line
ends, so that content of a user can't start a line of the layout.
"""

from collections.abc import Mapping, Sequence
import json

from protocol.json import Json, clean_json

WIDTH = 80  # columns within which a nested object or list of scalars stays on one line
_SCALARS = frozenset({str, int, float, bool, type(None)})
_LINE_ENDS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\u0085", "\\u0085"))
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str).encode


def layout(value: Json) -> str:
    """Return a value as JSON text with two spaces of indentation.

    The outermost object or list always spans several lines. A nested one is on one line if it has
    only scalars and fits into 80 columns. NaN and infinities become null.
    """
    try:
        text = _format_value(value)
    except ValueError:
        text = _format_value(clean_json(value))  # for NaN and infinities
    if not text.isascii():
        for line_end, escaped in _LINE_ENDS:
            text = text.replace(line_end, escaped)
    return text


def _format_value(value: Json, *, indent: int = 0, width: int = 0) -> str:
    """Format one value; `width` is the rest of its line, or 0 for the outermost value."""
    members: Sequence[Json]
    if isinstance(value, Mapping):
        value, members = dict(value), list(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        members = value
    else:
        return _encode(value)
    if not members or (width and _SCALARS.issuperset(map(type, members))):
        line = _encode(value)
        if members and isinstance(value, dict):
            line = f"{{ {line[1:-1]} }}"
        if not members or len(line) <= width:
            return line
    inner = indent + 2
    if isinstance(value, dict):
        keys = [f"{_encode(name)}: " for name in value]
        parts = [
            key + _format_value(member, indent=inner, width=max(WIDTH - inner - len(key), 1))
            for key, member in zip(keys, members, strict=True)
        ]
        opening, closing = "{}"
    else:
        parts = [_format_value(member, indent=inner, width=WIDTH - inner) for member in members]
        opening, closing = "[]"
    body = (",\n" + " " * inner).join(parts)
    return f"{opening}\n{' ' * inner}{body}\n{' ' * indent}{closing}"
