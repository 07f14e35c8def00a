"""The files of a query as text, pictures, or sentences that replace them."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

from copilot_admin.agent.documents.document import Document, UnreadableFile
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.base64_files import decoded_size
from copilot_admin.agent.files.file_reader import FileBody, read_file
from copilot_admin.agent.files.pictures import IMAGE_TYPES, Picture
from copilot_admin.agent.files.selection import (
    LINK,
    MAX_NAME,
    OPEN_TYPES,
    FileRules,
    Item,
    Key,
    Origin,
    WantedFile,
    is_text_already,
    map_items,
    suffix_of,
    wanted_in,
    wanted_of,
    with_links,
)
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.values.turn import is_uploaded
from protocol.json import JsonObject
from protocol.models import ContextItem, DataItem, FileReference, Query, SourceData

MAX_FILES = 20  # of one query
MAX_SECONDS = 60.0  # for all of them
MAX_CONCURRENT = 2  # files of one query; limits the bytes in memory
MAX_TEXT = 4_000_000  # characters of all documents of one query
MAX_IMAGES = 10  # of one query; the newest are used
MAX_IMAGE_CHARACTERS = 20 * 1024 * 1024  # in base64, of all of them; some vendors refuse 32 MB
TEXT_FORM: JsonObject = {"data_type": "object", "parse_as": "text"}
SCANNED = "Its pages are pictures without text. Recognise them first (OCR) and attach that."
NOT_SHOWN = "the copilot does not look at images"

# The result of a file; a text replaces a file without other content.
FileContent: TypeAlias = Document | Picture | str
FileOutcome: TypeAlias = tuple[FileContent, FileRead]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(DataItem):
    """The item that replaces a file; `content` is its text, a mention, or the reason for neither."""

    found: FileContent


async def _read_all(
    wanted: Sequence[WantedFile], *, fetch: Fetch, rules: FileRules
) -> tuple[dict[Key, FileContent], list[FileRead]]:
    """Read files, a few at the same time; earlier ones have precedence if there are too many."""
    slots = asyncio.Semaphore(MAX_CONCURRENT)
    until = asyncio.get_running_loop().time() + MAX_SECONDS

    async def read(one: WantedFile) -> FileOutcome:
        try:
            async with asyncio.timeout_at(until), slots:
                return await _read_one(one.item, one.file, fetch=fetch, rules=rules)
        except TimeoutError:
            reason = f"All files of a question may take {MAX_SECONDS:g} seconds. Attach fewer."
            return _unread(one.file, f"could not be read. {reason}")

    allowed = [one for one in wanted if one.origin in rules.origins]
    texts = {one.key for one in allowed if is_text_already(one)}
    unopened = [one for one in allowed if one.key not in texts]
    async with asyncio.TaskGroup() as group:
        tasks = {one.key: group.create_task(read(one)) for one in unopened[:MAX_FILES]}
    contents: dict[Key, FileContent] = {}
    files: list[FileRead] = []
    for one in wanted:
        file = one.file
        if one.key in texts:
            files.append(replace(file, size=len(one.key[2].encode("utf-8", "replace"))))
            continue
        if one.key in tasks:
            content, file = _limit(*tasks[one.key].result(), others=[*contents.values()])
        elif one.origin in rules.origins:
            reason = f"{MAX_FILES} other files were read already."
            content, file = _unread(file, f"could not be read. {reason}")
        else:
            content, file = _unread(file, f"was not read. {one.origin.value}")
        files.append(replace(file, is_known=not one.is_new))
        contents[one.key] = content
    return contents, files


def _limit(content: FileContent, file: FileRead, *, others: Sequence[FileContent]) -> FileOutcome:
    """Return a file as far as it fits into the limits of a question, after the others."""
    pictures = [one.url for other in others for one in pictures_of(other)]
    excess = ""
    if isinstance(content, Document):
        pages = []
        for page in content.pages:
            pictures += [page.picture] if page.picture else []
            fits = len(pictures) <= MAX_IMAGES and sum(map(len, pictures)) <= MAX_IMAGE_CHARACTERS
            pages.append(page if fits else replace(page, picture=""))
        content = replace(content, pages=tuple(pages))
        documents = [one for one in (*others, content) if isinstance(one, Document)]
        if sum(len(page.text) for one in documents for page in one.pages) > MAX_TEXT:
            excess = "Together with newer files it has too much text. Attach fewer."
    elif isinstance(content, Picture):
        if len(pictures) >= MAX_IMAGES:
            excess = f"The model is shown {MAX_IMAGES} newer images already."
        elif sum(map(len, pictures)) + len(content.url) > MAX_IMAGE_CHARACTERS:
            excess = "Together with newer images it is too large. Attach fewer."
    if not excess:
        return content, file
    rejected = FileRead(name=file.name, kind=file.kind, size=file.size)
    return _unread(rejected, f"could not be read. {excess}")


async def with_files_read(
    query: Query, *, fetch: Fetch, rules: FileRules
) -> tuple[Query, tuple[FileRead, ...]]:
    """Return the query with its files as text and pictures, and the result of each file.

    The newest files are read first: when there are too many, the oldest are left out.

    Args:
        query: Its results and context may contain files, in base64 or as links, and its question
            may name addresses.
        fetch: Gets the bytes behind a link.
        rules: Select the files to read; a sentence replaces each of the others.
    """
    query = with_links(query)
    refused = [] if Origin.UPLOAD in rules.origins else list(_refused_uploads(query))
    contents, files = await _read_all(wanted_in(query), fetch=fetch, rules=rules)

    def read(item: Item, origin: Origin, is_new: bool) -> Item:
        wanted = wanted_of(item, origin, is_new=is_new)
        content = contents.get(wanted.key) if wanted else None
        return item if content is None else _make_item(item, content)

    query = map_items(query, read) if contents else query
    notes = []
    for file in refused:
        item = DataItem(content=f"[{file.fault}]", data_format=TEXT_FORM, citable=False)
        notes.append(ContextItem(name=file.name, data=SourceData((item,))))
    return replace(query, context=(*query.context, *notes)), (*refused, *files)


def files_in(items: Iterable[object]) -> list[Document]:
    found = (item.found for item in items if isinstance(item, FileItem))
    return [content for content in found if isinstance(content, Document)]


def pictures_in(results: Iterable[object]) -> list[Picture]:
    """Return the pictures in results of sources, in their order."""
    items = (item for one in results if isinstance(one, SourceData) for item in one.items)
    found = (item.found for item in items if isinstance(item, FileItem))
    return [picture for content in found for picture in pictures_of(content)]


def _refused_uploads(query: Query) -> Iterator[FileRead]:
    for widget in query.widgets.primary:
        if is_uploaded(widget):
            name = (widget.name or widget.widget_id)[:MAX_NAME]
            file = FileRead(name=name, kind=suffix_of(name))
            yield _unread(file, f"was not read. {Origin.UPLOAD.value}")[1]


async def _read_one(
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
        return _unread(file, f"could not be read. {error.public}")
    except FetchFailed as error:
        note = "" if error.detail == error.public else error.detail
        return _unread(replace(file, note=note), f"could not be read. {error.public}")
    content, file = found.content, replace(file, kind=found.kind, size=found.size)
    if isinstance(content, Picture):
        if not rules.sees_images:
            return _unseen(item, file)
        return content, replace(file, pixels=(content.width, content.height))
    if not rules.sees_images and not any(one.text.strip() for one in content.pages):
        return _unread(file, f"could not be read. {SCANNED}")
    return content, replace(file, pages=len(content.pages), note=content.left_out.strip("[]"))


def _open(item: DataItem | FileReference, fetch: Fetch) -> AbstractAsyncContextManager[FileBody]:
    return fetch(item.url) if isinstance(item, FileReference) else nullcontext(item.content)


def _unread(file: FileRead, reason: str) -> FileOutcome:
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


def _make_item(item: DataItem | FileReference, content: FileContent) -> DataItem:
    """Return the item that replaces a file."""
    name = item.data_format.get("filename")
    form = {**TEXT_FORM, **({"filename": name} if name else {})}
    match content:
        case Document(text=text):
            if item.data_format.get("data_type") == "object":  # such as a chart's rows
                form = {**item.data_format}
        case Picture(name=name, width=width, height=height):
            text = f"[the image {name!r}, {width} by {height} pixels: you are shown it]"
        case _:
            text = content
    citable = item.citable and not isinstance(content, str)
    return FileItem(content=text, data_format=form, citable=citable, found=content)


def pictures_of(content: FileContent) -> Iterator[Picture]:
    """Yield a picture, or the pages of a document that are pictures."""
    if isinstance(content, Picture):
        yield content
    elif isinstance(content, Document):
        for page in content.pages:
            if page.picture:
                name = f"{content.name}, page {page.number}"
                yield Picture(name=name, width=0, height=0, url=page.picture)
