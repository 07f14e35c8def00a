"""How many tools one answer of a model may call, and how much it may write for them."""

from copilot_admin.errors import LimitReached
from protocol.json_tokens import has_more_tokens

MOST_CALLS = 128  # the most tools that OpenAI lets a request offer
MOST_ARGUMENT_BYTES = 1024 * 1024
# Of one call, counted as those of a body are. A megabyte of wrong rows is 400,000, and to say of each what
# is wrong holds the interpreter for more than a second; a table of 2,000 rows of ten columns is half of this.
MOST_ARGUMENT_VALUES = 100_000
LONGEST_NAME = 200  # characters of a name or an id; OpenAI allows 64 and 40


class CallLimits:
    """Counts the calls of one answer and the bytes of their arguments."""

    def __init__(self) -> None:
        self._calls = 0
        self._bytes = 0

    def count_call(self) -> None:
        """Counts one more call.

        Raises:
            LimitReached: There are too many.
        """
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise LimitReached(
                f"The model called more than {MOST_CALLS} tools in one answer, so the answer was "
                "ended. Ask for less at once."
            )

    def count_arguments(self, text: str) -> None:
        """Counts more of the arguments.

        Raises:
            LimitReached: They are too long together.
        """
        self._bytes += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if self._bytes > MOST_ARGUMENT_BYTES:
            raise LimitReached(
                "The model wrote more than 1 MB of arguments for the tools it called, so the answer "
                "was ended. Ask for less at once."
            )


def check_values(arguments: str) -> None:
    """Looks how much is to be made of the arguments of one call, before anything reads them.

    Raises:
        LimitReached: They have too many values.
    """
    if has_more_tokens(arguments.encode("utf-8", "surrogatepass"), MOST_ARGUMENT_VALUES):
        raise LimitReached(
            f"The model wrote more than {MOST_ARGUMENT_VALUES:,} values as the arguments of one tool, "
            "so the answer was ended. Ask for less at once."
        )
