"""Web pages that a provider searched for an answer, in the forms of several vendors."""

from collections.abc import Iterator

from copilot_admin.agent.values.model_call import WebSource, WebSources
from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of

_MAX_SOURCES = 100
_MAX_TITLE = 300  # characters
_MAX_TEXT = 1_000


class SourceCollector:
    """Collects distinct sources from chunks, in order of arrival."""

    def __init__(self) -> None:
        self._found: dict[str, WebSource] = {}

    def read_chunk(self, chunk: JsonObject) -> None:
        """Add `citations` and `search_results` next to the choices, of Perplexity and xAI."""
        for result in objects_of(chunk.get("search_results")):
            self._add(result)
        self._add_addresses(chunk.get("citations"))

    def read_message(self, delta: JsonObject) -> None:
        """Add the annotations of a delta, of OpenAI and OpenRouter."""
        for annotation in objects_of(delta.get("annotations")):
            self._add(object_of(annotation.get("url_citation")) or annotation)
        self._add_addresses(delta.get("citations"))

    def collected(self) -> Iterator[WebSources]:
        """Yield the sources, if there are any."""
        if self._found:
            yield WebSources(tuple(self._found.values()))

    def _add_addresses(self, rows: Json) -> None:
        for row in list_of(rows):
            self._add({"url": row} if isinstance(row, str) else object_of(row))

    def _add(self, row: JsonObject) -> None:
        url = text_of(row.get("url"))
        is_web = url.startswith(("https://", "http://"))
        if not is_web or (len(self._found) >= _MAX_SOURCES and url not in self._found):
            return
        known = self._found.get(url, WebSource(url=url))
        self._found[url] = WebSource(
            url=url,
            title=known.title or text_of(row.get("title"))[:_MAX_TITLE],
            text=known.text
            or (text_of(row.get("content")) or text_of(row.get("snippet")))[:_MAX_TEXT],
        )
