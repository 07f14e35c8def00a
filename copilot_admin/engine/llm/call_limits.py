"""How many tools one answer of a model may call, and how much it may write for them."""

from copilot_admin.errors import LimitReached

MOST_CALLS = 128  # the most tools that OpenAI lets a request offer
MOST_ARGUMENT_BYTES = 1024 * 1024
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
