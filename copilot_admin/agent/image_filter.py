"""Filter that removes remote images from everything that is sent to the client."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from copilot_admin.agent.text import map_object_texts
from copilot_admin.agent.toolkits.markdown_images import (
    MarkdownImages,
    without_remote_images,
)
from copilot_admin.agent.values.answer_request import Output
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
from protocol.json import Json, JsonObject

_AFTER_TEXT = FunctionCall | CitationCollection | PromptSuggestions | Finish
_Change = Callable[[str], str]


class ImageFilter:
    """Outputs of one step without remote images.

    Text that is held back, since an image may begin with it, is overtaken by status updates and
    artifacts: in two chunks it could become an image again.
    """

    def __init__(self, sources: Collection[str]) -> None:
        """Begin a step.

        Args:
            sources: Origins from which the builder allows images.
        """
        self._sources = sources
        self._text = MarkdownImages(sources)

    def take(self, output: Output) -> Sequence[Output]:
        """Return what may be sent of an output, and now."""
        if isinstance(output, MessageChunk):
            text = self._text.feed(output.delta)
            if text == output.delta:
                return (output,)
            return (MessageChunk(text),) if text else ()
        held = self.rest() if isinstance(output, _AFTER_TEXT) else ()
        return (*held, _changed(output, self._clean))

    def rest(self) -> Sequence[MessageChunk]:
        """Return text that is still held back."""
        text = self._text.end()
        return (MessageChunk(text),) if text else ()

    def _clean(self, text: str) -> str:
        return without_remote_images(text, sources=self._sources)


def _changed(output: Output, change: _Change) -> Output:
    match output:
        case StatusUpdate():
            return _step(output, change)
        case MessageArtifact():
            return _artifact(output, change)
        case CitationCollection(citations):
            return CitationCollection(tuple(_citation(one, change) for one in citations))
        case PromptSuggestions(suggestions):
            return PromptSuggestions(tuple(map(change, suggestions)))
    return output


def _step(step: StatusUpdate, change: _Change) -> StatusUpdate:
    return replace(
        step,
        message=change(step.message),
        details=tuple(_detail(one, change) for one in step.details),
        artifacts=tuple(_artifact(one, change) for one in step.artifacts),
    )


def _artifact(artifact: MessageArtifact, change: _Change) -> MessageArtifact:
    content, drawn = artifact.content, artifact.chart_params
    if not isinstance(content, str):
        content = [map_object_texts(row, change) for row in content]
    elif artifact.type is ArtifactType.TEXT:
        content = change(content)
    return replace(
        artifact,
        content=content,
        description=change(artifact.description),
        chart_params=None if drawn is None else map_object_texts(drawn, change),
    )


def _citation(citation: Citation, change: _Change) -> Citation:
    about = citation.source_info
    if "description" in about:
        about = {**about, "description": _value(about["description"], change)}
    details = tuple(
        {name: _value(value, change) for name, value in one.items()} for one in citation.details
    )
    return replace(citation, source_info=about, details=details)


def _detail(detail: JsonObject | str, change: _Change) -> JsonObject | str:
    if isinstance(detail, str):
        return change(detail)
    return {name: _value(value, change) for name, value in detail.items()}


def _value(value: Json, change: _Change) -> Json:
    return change(value) if isinstance(value, str) else value
