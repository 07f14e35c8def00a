"""The text of an answer on its way from the model to the client."""

import asyncio

# A preamble ("I will look at the price widget.") is a sentence or two that a model writes in well
# under a second. Real answers are longer, and none waits longer than this.
HELD_CHARACTERS = 160
HELD_SECONDS = 0.5


class ReplyText:
    """Counts the text of one leg, cuts it at the byte limit, and holds back a preamble.

    A leg that ends in a client function call sends nothing before the call. So while such a call
    may still come the first words are held back; what is longer or slower than a preamble is the
    answer and goes out, and a call that comes even then goes out behind it.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self.full = False
        self.round_text: list[str] = []  # all that the model said in this round
        self.shown = False  # whether any text but blanks went out
        self._room = self._room_to_think = max_bytes
        self._held: list[str] = []
        self._held_since: float | None = None
        self._holding = False

    def begin_round(self, *, hold: bool) -> None:
        """Begins a new answer of the model, which may end in a client function call if `hold`."""
        self.round_text = []
        self._holding = hold

    def take(self, text: str) -> str:
        """Takes the next words of the model and returns what may be sent now."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > self._room:
            text = text.encode("utf-8", "replace")[: self._room].decode("utf-8", "ignore")
            self.full = True
        self._room -= size
        self.round_text.append(text)
        return self._hold(text) if self._holding else self._send(text)

    def think(self, text: str) -> str:
        """Takes the next thoughts of the model and returns what may be kept of them.

        They have a room of their own, as large as that of the words: a model that thinks without
        end is ended like one that talks without end.
        """
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > self._room_to_think:
            text = text.encode("utf-8", "replace")[: self._room_to_think].decode("utf-8", "ignore")
            self.full = True
        self._room_to_think -= size
        return text

    def release(self) -> str:
        """Returns what was held back, to be sent after all."""
        self._holding = False
        text = "".join(self._held)
        self._held = []
        return self._send(text)

    def _hold(self, text: str) -> str:
        now = asyncio.get_running_loop().time()
        if self._held_since is None:
            self._held_since = now
        self._held.append(text)
        late = now - self._held_since >= HELD_SECONDS
        if self.full or late or sum(map(len, self._held)) >= HELD_CHARACTERS:
            return self.release()
        return ""

    def _send(self, text: str) -> str:
        self.shown = self.shown or not (not text or text.isspace())
        return text
