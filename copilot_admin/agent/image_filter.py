"""Filter that removes remote images from everything that is sent to the client."""

from collections.abc import Collection
from dataclasses import replace

from copilot_admin.agent.text import map_texts
from copilot_admin.agent.toolkits.markdown_images import MarkdownImages, without_remote_images
from copilot_admin.agent.values.answer_request import Output, Send
from copilot_admin.agent.values.model_call import Finish
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)

_AFTER_TEXT = FunctionCall | CitationCollection | PromptSuggestions | Finish


class ImageFilter:
    """Passes the outputs of one step on without remote images, except from `sources` (origins).

    Text is buffered while it may be the beginning of an image. Status updates and artifacts are
    sent before it, because text in two chunks could become an image again.
    """

    def __init__(self, send: Send, *, sources: Collection[str]) -> None:
        self._send = send
        self._sources = sources
        self._text = MarkdownImages(sources)

    def add(self, output: Output) -> None:
        """Send an output, or text as far as it is certain."""
        if isinstance(output, MessageChunk):
            text = self._text.feed(output.delta)
            if text == output.delta:
                self._send(output)
            elif text:
                self._send(MessageChunk(text))
            return
        if isinstance(output, _AFTER_TEXT):
            self.flush()
        self._send(self._changed(output))

    def flush(self) -> None:
        if text := self._text.end():
            self._send(MessageChunk(text))

    def _clean(self, text: str) -> str:
        return without_remote_images(text, sources=self._sources)

    def _changed(self, output: Output) -> Output:
        match output:
            case StatusUpdate():
                return replace(
                    output,
                    message=self._clean(output.message),
                    details=tuple(map_texts(one, self._clean) for one in output.details),
                    artifacts=tuple(map(self._changed_artifact, output.artifacts)),
                )
            case MessageArtifact():
                return self._changed_artifact(output)
            case CitationCollection(citations):
                return CitationCollection(tuple(map(self._changed_citation, citations)))
            case PromptSuggestions(suggestions):
                return PromptSuggestions(tuple(map(self._clean, suggestions)))
        return output

    def _changed_artifact(self, artifact: MessageArtifact) -> MessageArtifact:
        is_text = not isinstance(artifact.content, str) or artifact.type is ArtifactType.TEXT
        return replace(
            artifact,
            content=map_texts(artifact.content, self._clean) if is_text else artifact.content,
            description=self._clean(artifact.description),
            chart_params=map_texts(artifact.chart_params, self._clean),
        )

    def _changed_citation(self, citation: Citation) -> Citation:
        about = citation.source_info
        if "description" in about:
            about = {**about, "description": map_texts(about["description"], self._clean)}
        details = tuple(map_texts(one, self._clean) for one in citation.details)
        return replace(citation, source_info=about, details=details)
