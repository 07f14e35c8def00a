"""Sentences about what was dropped or mended while a request was read."""

_MOST = 40  # a body with more wrong fields than this is wrong as a whole


class Notes:
    """Collects sentences, each once, up to a bound."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}
        self._more = 0

    def add(self, sentence: str) -> None:
        """Keeps one sentence about what was read."""
        if sentence in self._sentences:
            return
        if len(self._sentences) < _MOST:
            self._sentences[sentence] = None
        else:
            self._more += 1

    def dropped(self, path: str, *, wanted: str) -> None:
        """Say that a field is not what it should be and was left out."""
        self.add(f"`{path}` is not {wanted} and was left out.")

    def sentences(self) -> tuple[str, ...]:
        """Everything noted, in order."""
        more = (f"{self._more} more fields were left out.",) if self._more else ()
        return (*self._sentences, *more)
