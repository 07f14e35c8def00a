"""Content of one file: text, a picture, or a sentence that replaces it."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from copilot_admin.agent.documents.document import Document, UnreadableFile
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.base64_files import decoded_size
from copilot_admin.agent.files.file_reader import FileBody, read_file
from copilot_admin.agent.files.pictures import IMAGE_TYPES, Picture
from copilot_admin.agent.files.selection import LINK, OPEN_TYPES, FileRules, Origin, suffix_of
from copilot_admin.agent.values.answer_request import FileRead
from protocol.json import JsonObject
from protocol.models import DataItem, FileReference

TEXT_FORM: JsonObject = {"data_type": "object", "parse_as": "text"}
SCANNED = "Its pages are pictures without text. Recognise them first (OCR) and attach that."
NOT_SHOWN = "the copilot does not look at images"

# The result of a file; a text replaces a file without other content.
FileContent: TypeAlias = Document | Picture | str
FileOutcome: TypeAlias = tuple[FileContent, FileRead]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(DataItem):
    """A file that was read; `content` is its text."""

    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageItem(DataItem):
    """An image for the model; `content` mentions it as text."""

    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadItem(DataItem):
    """The item that replaces an unread file; `content` has the reason."""


async def outcome_of(
    item: DataItem | FileReference,
    file: FileRead,
    *,
    fetch: Fetch,
    rules: FileRules,
) -> FileOutcome:
    """Fetch and read a file of a question.

    If a link names no kind, the fetched content determines it.
    """
    if file.kind in IMAGE_TYPES and not rules.sees_images:
        return _unseen(item, file)
    try:
        async with _body(item, fetch) as body:
            return await _read(item, body, file, rules=rules)
    except UnreadableFile as error:
        return unreadable(file, error.public)
    except FetchFailed as error:
        note = "" if error.detail == error.public else error.detail
        return unreadable(replace(file, note=note), error.public)


def unreadable(file: FileRead, why: str) -> FileOutcome:
    """Return the sentence that replaces an unreadable file."""
    return _sentence(file, f"The {_noun(file)} {file.name!r} could not be read. {why}")


def unwanted(file: FileRead, origin: Origin) -> FileOutcome:
    """Return the sentence that replaces a file whose feature is off."""
    return _sentence(file, f"The {_noun(file)} {file.name!r} was not read. {origin.value}")


def item_of(item: DataItem | FileReference, content: FileContent) -> DataItem:
    """Return the item that replaces a file."""
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


def pictures_of(content: FileContent) -> Iterator[Picture]:
    """Yield a picture, or the pages of a document that are pictures."""
    match content:
        case Picture():
            yield content
        case Document():
            for page in content.pages:
                if page.picture:
                    name = f"{content.name}, page {page.number}"
                    yield Picture(name=name, width=0, height=0, url=page.picture)


def _body(item: DataItem | FileReference, fetch: Fetch) -> AbstractAsyncContextManager[FileBody]:
    return fetch(item.url) if isinstance(item, FileReference) else nullcontext(item.content)


async def _read(
    item: DataItem | FileReference, body: FileBody, file: FileRead, *, rules: FileRules
) -> FileOutcome:
    kind = file.kind
    if kind in OPEN_TYPES and isinstance(item, FileReference):
        kind = suffix_of(item.url)
    found = await read_file(
        body,
        data_type=kind,
        name=file.name,
        places=rules.places,
        pictures=rules.sees_images,
    )
    file = replace(file, kind=found.kind, size=found.size)
    match found.content:
        case Picture() as picture if rules.sees_images:
            return picture, replace(file, pixels=(picture.width, picture.height))
        case Picture():
            return _unseen(item, file)
        case Document() as document:
            if not rules.sees_images and not any(one.text.strip() for one in document.pages):
                return unreadable(file, SCANNED)
            note = document.left_out.strip("[]")
            return document, replace(file, pages=len(document.pages), note=note)
    assert_never(found.content)


def _unseen(item: DataItem | FileReference, file: FileRead) -> FileOutcome:
    about, size = "which is linked", None
    if isinstance(item, DataItem):
        size = decoded_size(item.content)
        about = _format_size(size)
    text = f"[the image {file.name!r}, {about}: you cannot look at images; say so if the answer "
    return f"{text}depends on it]", replace(file, size=size, note=NOT_SHOWN)


def _noun(file: FileRead) -> str:
    return "link" if file.kind == LINK else "file"


def _sentence(file: FileRead, sentence: str) -> FileOutcome:
    return f"[{sentence}]", replace(file, fault=sentence)


def _format_size(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{-(-size // 1024)} KB"


def _as_text(form: JsonObject) -> JsonObject:
    name = form.get("filename")
    return {**TEXT_FORM, **({"filename": name} if name else {})}
