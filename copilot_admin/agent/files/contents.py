"""Content of one file: text, a picture, or a sentence that replaces it."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

from copilot_admin.agent.documents.document import Document, UnreadableFile
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.base64_files import decoded_size
from copilot_admin.agent.files.file_reader import FileBody, read_file
from copilot_admin.agent.files.pictures import IMAGE_TYPES, Picture
from copilot_admin.agent.files.selection import LINK, OPEN_TYPES, FileRules, suffix_of
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
    item: DataItem | FileReference, file: FileRead, *, fetch: Fetch, rules: FileRules
) -> FileOutcome:
    """Fetch and read a file of a question.

    If a link names no kind, the fetched content determines it.
    """
    if file.kind in IMAGE_TYPES and not rules.sees_images:
        return _unseen(item, file)
    kind = file.kind
    if isinstance(item, FileReference) and kind in OPEN_TYPES:
        kind = suffix_of(item.url)
    try:
        async with _open(item, fetch) as body:
            found = await read_file(
                body,
                data_type=kind,
                name=file.name,
                places=rules.places,
                pictures=rules.sees_images,
            )
    except UnreadableFile as error:
        return unread(file, f"could not be read. {error.public}")
    except FetchFailed as error:
        note = "" if error.detail == error.public else error.detail
        return unread(replace(file, note=note), f"could not be read. {error.public}")
    content, file = found.content, replace(file, kind=found.kind, size=found.size)
    if isinstance(content, Picture):
        if not rules.sees_images:
            return _unseen(item, file)
        return content, replace(file, pixels=(content.width, content.height))
    if not rules.sees_images and not any(one.text.strip() for one in content.pages):
        return unread(file, f"could not be read. {SCANNED}")
    return content, replace(file, pages=len(content.pages), note=content.left_out.strip("[]"))


def _open(item: DataItem | FileReference, fetch: Fetch) -> AbstractAsyncContextManager[FileBody]:
    return fetch(item.url) if isinstance(item, FileReference) else nullcontext(item.content)


def unread(file: FileRead, reason: str) -> FileOutcome:
    """Return the sentence that replaces an unread file; `reason` is its end."""
    sentence = f"The {'link' if file.kind == LINK else 'file'} {file.name!r} {reason}"
    return f"[{sentence}]", replace(file, fault=sentence)


def _unseen(item: DataItem | FileReference, file: FileRead) -> FileOutcome:
    about, size = "which is linked", None
    if isinstance(item, DataItem):
        size = decoded_size(item.content)
        about = f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{-(-size // 1024)} KB"
    text = f"[the image {file.name!r}, {about}: you cannot look at images; say so if the answer "
    return f"{text}depends on it]", replace(file, size=size, note=NOT_SHOWN)


def item_of(item: DataItem | FileReference, content: FileContent) -> DataItem:
    """Return the item that replaces a file."""
    name = item.data_format.get("filename")
    form = {**TEXT_FORM, **({"filename": name} if name else {})}
    if isinstance(content, str):
        return UnreadItem(content=content, data_format=form, citable=False)
    if isinstance(content, Document):
        is_object = item.data_format.get("data_type") == "object"  # such as a chart's rows
        return FileItem(
            content=content.text,
            data_format=item.data_format if is_object else form,
            citable=item.citable,
            document=content,
        )
    size = f"{content.width} by {content.height} pixels"
    return ImageItem(
        content=f"[the image {content.name!r}, {size}: you are shown it]",
        data_format=form,
        citable=item.citable,
        picture=content,
    )


def pictures_of(content: FileContent) -> Iterator[Picture]:
    """Yield a picture, or the pages of a document that are pictures."""
    if isinstance(content, Picture):
        yield content
    elif isinstance(content, Document):
        for page in content.pages:
            if page.picture:
                name = f"{content.name}, page {page.number}"
                yield Picture(name=name, width=0, height=0, url=page.picture)
