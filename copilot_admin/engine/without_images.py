"""What leaves for the client, without images that it would load from elsewhere by itself."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from copilot_admin.engine.toolkits.markdown_images import MarkdownImages, without_remote_images
from copilot_admin.engine.values.engine_input import Output
from copilot_admin.engine.values.model_call import Finish
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
from protocol.json import Json, JsonObject

_AFTER_WORDS = FunctionCall | CitationCollection | PromptSuggestions | Finish


class WithoutImages:
    """The outputs of one leg on their way out.

    Words that are held back, since an image may begin with them, are overtaken by steps and
    artifacts: in two pieces they could become an image again.
    """

    def __init__(self, sources: Collection[str]) -> None:
        """Begins a leg.

        Args:
            sources: Origins from which the builder allows images.
        """
        self._sources = sources
        self._words = MarkdownImages(sources)

    def take(self, output: Output) -> Iterator[Output]:
        """What may leave of an output, and now."""
        if isinstance(output, MessageChunk):
            text = self._words.feed(output.delta)
            if text == output.delta:
                yield output
            elif text:
                yield MessageChunk(text)
            return
        if isinstance(output, _AFTER_WORDS):
            yield from self.rest()
        match output:
            case StatusUpdate():
                yield self._step(output)
            case MessageArtifact():
                yield self._artifact(output)
            case CitationCollection(citations):
                yield CitationCollection(tuple(map(self._citation, citations)))
            case PromptSuggestions(suggestions):
                yield PromptSuggestions(tuple(map(self._clean, suggestions)))
            case _:
                yield output

    def rest(self) -> Iterator[MessageChunk]:
        """Words that are still held back."""
        if text := self._words.end():
            yield MessageChunk(text)

    def _step(self, step: StatusUpdate) -> StatusUpdate:
        return replace(
            step,
            message=self._clean(step.message),
            details=tuple(map(self._detail, step.details)),
            artifacts=tuple(map(self._artifact, step.artifacts)),
        )

    def _artifact(self, artifact: MessageArtifact) -> MessageArtifact:
        content = artifact.content
        if artifact.type is ArtifactType.TEXT and isinstance(content, str):
            content = self._clean(content)
        description = self._clean(artifact.description)
        return replace(artifact, content=content, description=description)

    def _citation(self, citation: Citation) -> Citation:
        """The citation; its text is that of a widget, a tool or a document."""
        about = citation.source_info
        if "description" in about:
            about = {**about, "description": self._value(about["description"])}
        details = tuple(
            {name: self._value(value) for name, value in one.items()} for one in citation.details
        )
        return replace(citation, source_info=about, details=details)

    def _detail(self, detail: JsonObject | str) -> JsonObject | str:
        if isinstance(detail, str):
            return self._clean(detail)
        return {name: self._value(value) for name, value in detail.items()}

    def _value(self, value: Json) -> Json:
        return self._clean(value) if isinstance(value, str) else value

    def _clean(self, text: str) -> str:
        return without_remote_images(text, sources=self._sources)
