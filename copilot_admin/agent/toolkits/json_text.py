"""Reads JSON that came as the text of one argument."""

import json

from protocol.json import Json
from protocol.json_tokens import has_more_tokens

# Brackets, braces, commas and colons: as many as a whole call of a component may have, so that
# rows in a text are no way around its limit. 5 million characters can hold 2.5 million values.
MOST_TOKENS = 750_000


def json_in(text: str, *, what: str) -> Json:
    """The value that a text is.

    Args:
        text: JSON; NaN and infinities are read too, as many a library writes them.
        what: Names it in a sentence, in the plural: "rows".

    Raises:
        ValueError: It is none, it is nested too deeply, or it has too many values.
    """
    if has_more_tokens(text.encode(errors="surrogatepass"), MOST_TOKENS):
        raise ValueError(f"The {what} have more than {MOST_TOKENS:,} JSON values. Send fewer.")
    try:
        value: Json = json.loads(text)
    except RecursionError:
        raise ValueError(f"The {what} are JSON that is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"The {what} look like JSON but are none: {error}.") from None
    return value
