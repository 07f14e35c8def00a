"""A stored request as a command for the shell; a key is never in it."""

import json

from protocol.json import Json

KEY = "$COPILOT_KEY"  # the shell puts it in, from where it is kept


def curl_of(address: str, body: Json) -> str:
    """The command that asks the same again.

    Args:
        address: Where copilots are asked.
        body: The request as it is kept: without secrets. It is one line, so that nothing in it can
            end the text that the shell hands over as it is.
    """
    text = json.dumps(body, ensure_ascii=False)
    return (
        f"curl -N {_quoted(address)} \\\n"
        f"  -H 'Content-Type: application/json' -H \"X-API-Key: {KEY}\" \\\n"
        f"  --data-binary @- <<'REQUEST'\n{text}\nREQUEST\n"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
