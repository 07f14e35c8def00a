"""What is ordered of a process that reads a file, and what it replies, as JSON."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from copilot_admin.agent.documents.document import DocumentPage, LeftOut, Part, UnreadableFile, Word
from copilot_admin.agent.files.pictures import Picture
from protocol.json import Json, JsonObject

_PAGE_FIELDS = ("number", "text", "name", "note", "picture", "noun")


class Job(StrEnum):
    """What a process is to make of a file."""

    READ = "read"  # a document or a picture, by its content
    PNG = "png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with the bytes that come with it.

    Attributes:
        job: What the file becomes.
        name: Of the file.
        data_type: As it was declared.
        is_encoded: The bytes are base64.
        places: Of the words of a document are asked for.
        pictures: Pages without text are asked for as pictures.
    """

    job: Job
    name: str = ""
    data_type: str = ""
    is_encoded: bool = False
    places: bool = False
    pictures: bool = False


@dataclass(slots=True)
class FileReply:
    """What came back, as far as it has come."""

    size: int = 0
    kind: str = ""  # its `data_type` by its content
    pages: list[DocumentPage] = field(default_factory=list)
    left_out: LeftOut | None = None
    picture: Picture | None = None
    png: str = field(default="", repr=False)  # base64
    too_many_pixels: tuple[int, int] | None = None  # width and height

    def take(self, reply: Json) -> None:
        """Adds what one reply of the reading process says of the file.

        Raises:
            UnreadableFile: It says that the file cannot be read.
            ValueError: It is none of ours.
        """
        match reply:
            case {"size": int(size)}:
                self.size = size
            case {"kind": str(kind)}:
                self.kind = kind
            case {"page": dict(fields), "words": list(words)}:
                self.pages.append(_page(fields, words))
            case {"left_out": str(note)}:
                self.left_out = LeftOut(note)
            case {"picture": [str(name), int(width), int(height), str(url)]}:
                self.picture = Picture(name=name, width=width, height=height, url=url)
            case {"png": str(png)}:
                self.png = png
            case {"refused": str(public)}:
                raise UnreadableFile(public)
            case {"too_many_pixels": [int(width), int(height)]}:
                self.too_many_pixels = width, height
            case _:
                raise ValueError("a reply that nobody knows")


def document_replies(parts: Iterable[Part], *, places: bool) -> Iterator[Json]:
    """A document, a reply for each page as it is read."""
    for part in parts:
        match part:
            case DocumentPage():
                fields = {name: getattr(part, name) for name in _PAGE_FIELDS}
                yield {"page": fields, "words": _placed(part, places)}
            case LeftOut():
                yield {"left_out": part.note}


def _placed(page: DocumentPage, places: bool) -> list[Json]:
    return [[one.text, one.x0, one.top, one.x1, one.bottom] for one in page.words if places]


def picture_reply(picture: Picture) -> Json:
    """A picture that a model can be shown."""
    return {"picture": [picture.name, picture.width, picture.height, picture.url]}


def _page(fields: JsonObject, words: list[Json]) -> DocumentPage:
    if not {"number", "text"} <= fields.keys() <= set(_PAGE_FIELDS):
        raise ValueError("a page without its text, or with something else")
    given = cast("dict[str, Any]", fields)
    return DocumentPage(**given, words=tuple(map(_word, words)))


def _word(found: Json) -> Word:
    match found:
        case [str(text), int() | float() as x0, int() | float() as top,
              int() | float() as x1, int() | float() as bottom]:  # fmt: skip
            return Word(text, x0, top, x1, bottom)
    raise ValueError("a word without its place")
