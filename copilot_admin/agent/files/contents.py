"""What becomes of one file: text, a picture, or a sentence in its place."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from copilot_admin.agent.documents.document import Document, UnreadableFile
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.encoded import size_of
from copilot_admin.agent.files.file_processes import FileBody, read_document, read_picture
from copilot_admin.agent.files.links import OPEN_TYPES, kind_behind
from copilot_admin.agent.files.pictures import IMAGE_TYPES, Picture
from copilot_admin.agent.files.rules import LINK, FileRules, Origin
from copilot_admin.agent.values.engine_input import FileRead
from protocol.json import JsonObject
from protocol.models import DataItem, FileReference

TEXT_FORM: JsonObject = {"data_type": "object", "parse_as": "text"}
NOT_SHOWN = "the copilot does not look at images"

# What came of a file; a text stands in its place, where there is nothing else to show.
FileContent: TypeAlias = Document | Picture | str
FileOutcome: TypeAlias = tuple[FileContent, FileRead]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(DataItem):
    """A file that was read; `content` is its text."""

    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageItem(DataItem):
    """An image that the model is shown; `content` says in words that it is."""

    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadItem(DataItem):
    """What stands for a file that was not read; `content` says why."""


async def outcome_of(
    item: DataItem | FileReference,
    file: FileRead,
    *,
    fetch: Fetch,
    rules: FileRules,
) -> FileOutcome:
    """Fetches and reads a file of a question.

    Of a link that names no kind, what is behind it says its kind.
    """
    if file.kind in IMAGE_TYPES and not rules.sees_images:
        return _unseen(item, file)
    try:
        async with _body(item, fetch) as body:
            if file.kind in OPEN_TYPES and isinstance(item, FileReference):
                assert isinstance(body, bytes)  # noqa: S101  # what a link leads to
                file = replace(file, kind=kind_behind(item.url, body))
            if file.kind in IMAGE_TYPES and not rules.sees_images:
                return _unseen(item, file)
            return await _read(body, file, places=rules.places)
    except UnreadableFile as error:
        return unreadable(file, error.public)
    except FetchFailed as error:
        note = "" if error.detail == error.public else error.detail
        return unreadable(replace(file, note=note), error.public)


def unreadable(file: FileRead, why: str) -> FileOutcome:
    """A file that could not be read, for a reason."""
    return _sentence(file, f"The {_noun(file)} {file.name!r} could not be read. {why}")


def unwanted(file: FileRead, origin: Origin) -> FileOutcome:
    """A file that the copilot does not read, as the feature for it is switched off."""
    return _sentence(file, f"The {_noun(file)} {file.name!r} was not read. {origin.value}")


def item_of(item: DataItem | FileReference, content: FileContent) -> DataItem:
    """The item that stands for a file from here on."""
    form = _as_text(item.data_format)
    match content:
        case str():
            return UnreadItem(content=content, data_format=form, citable=False)
        case Document():
            is_object = item.data_format.get("data_type") == "object"  # such as a chart's rows
            return FileItem(
                content=content.text,
                data_format=item.data_format if is_object else form,
                citable=item.citable,
                document=content,
            )
        case Picture(name=name, width=width, height=height):
            return ImageItem(
                content=f"[the image {name!r}, {width} by {height} pixels: you are shown it]",
                data_format=form,
                citable=item.citable,
                picture=content,
            )
    assert_never(content)


def _body(item: DataItem | FileReference, fetch: Fetch) -> AbstractAsyncContextManager[FileBody]:
    return fetch(item.url) if isinstance(item, FileReference) else nullcontext(item.content)


async def _read(body: FileBody, file: FileRead, *, places: bool) -> FileOutcome:
    if file.kind in IMAGE_TYPES:
        picture, size = await read_picture(body, name=file.name)
        return picture, replace(file, size=size, pixels=(picture.width, picture.height))
    document, size = await read_document(body, data_type=file.kind, name=file.name, places=places)
    note = document.left_out.strip("[]")
    return document, replace(file, size=size, pages=len(document.pages), note=note)


def _unseen(item: DataItem | FileReference, file: FileRead) -> FileOutcome:
    about, size = "which is linked", None
    if isinstance(item, DataItem):
        size = size_of(item.content)
        about = _in_words(size)
    text = f"[the image {file.name!r}, {about}: you cannot look at images; say so if the answer "
    return f"{text}depends on it]", replace(file, size=size, note=NOT_SHOWN)


def _noun(file: FileRead) -> str:
    return "link" if file.kind == LINK else "file"


def _sentence(file: FileRead, sentence: str) -> FileOutcome:
    return f"[{sentence}]", replace(file, fault=sentence)


def _in_words(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{-(-size // 1024)} KB"


def _as_text(form: JsonObject) -> JsonObject:
    name = form.get("filename")
    return {**TEXT_FORM, **({"filename": name} if name else {})}
