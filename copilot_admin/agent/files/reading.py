"""Conversion of the files of a query to text and pictures."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from copilot_admin.agent.documents.document import Document
from copilot_admin.agent.fetching.egress import Fetch
from copilot_admin.agent.files.contents import (
    TEXT_FORM,
    FileContent,
    FileItem,
    FileOutcome,
    ImageItem,
    item_of,
    outcome_of,
    pictures_of,
    unread,
)
from copilot_admin.agent.files.pictures import Picture
from copilot_admin.agent.files.selection import (
    EVERYTHING,
    MAX_NAME,
    FileRules,
    Item,
    Key,
    Origin,
    WantedFile,
    is_text_already,
    origin_of,
    origins_in,
    suffix_of,
    wanted_in,
    wanted_of,
    with_links,
)
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.values.turn import is_uploaded
from protocol.models import ContextItem, DataItem, Message, Query, ResultMessage, SourceData

MAX_FILES = 20  # of one query
MAX_SECONDS = 60.0  # for all of them
MAX_CONCURRENT = 2  # files of one query; limits the bytes in memory
MAX_TEXT = 4_000_000  # characters of all documents of one query
MAX_IMAGES = 10  # of one query; the newest are used
MAX_IMAGE_CHARACTERS = 20 * 1024 * 1024  # in base64, of all of them; some vendors refuse 32 MB


async def _read_all(
    wanted: Sequence[WantedFile], *, fetch: Fetch, rules: FileRules
) -> tuple[dict[Key, FileContent], list[FileRead]]:
    """Read files, a few at the same time; earlier ones have precedence if there are too many."""
    slots = asyncio.Semaphore(MAX_CONCURRENT)
    until = asyncio.get_running_loop().time() + MAX_SECONDS

    async def read(one: WantedFile) -> FileOutcome:
        try:
            async with asyncio.timeout_at(until), slots:
                return await outcome_of(one.item, one.file, fetch=fetch, rules=rules)
        except TimeoutError:
            reason = f"All files of a question may take {MAX_SECONDS:g} seconds. Attach fewer."
            return unread(one.file, f"could not be read. {reason}")

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
            content, file = unread(file, f"could not be read. {reason}")
        else:
            content, file = unread(file, f"was not read. {one.origin.value}")
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
    return unread(rejected, f"could not be read. {excess}")


async def with_files_read(
    query: Query, *, fetch: Fetch, rules: FileRules = EVERYTHING
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
    query = _replaced(query, contents) if contents else query
    notes = []
    for file in refused:
        item = DataItem(content=f"[{file.fault}]", data_format=TEXT_FORM, citable=False)
        notes.append(ContextItem(name=file.name, data=SourceData((item,))))
    return replace(query, context=(*query.context, *notes)), (*refused, *files)


def files_in(items: Iterable[object]) -> list[Document]:
    """Return the documents among some items."""
    return [item.document for item in items if isinstance(item, FileItem)]


def pictures_in(results: Iterable[object]) -> list[Picture]:
    """Return the pictures in results of sources, in their order."""
    pictures: list[Picture] = []
    for result in results:
        for item in result.items if isinstance(result, SourceData) else ():
            match item:
                case ImageItem(picture=content) | FileItem(document=content):
                    pictures += pictures_of(content)
    return pictures


def _refused_uploads(query: Query) -> Iterator[FileRead]:
    for widget in query.widgets.primary:
        if is_uploaded(widget):
            name = (widget.name or widget.widget_id)[:MAX_NAME]
            file = FileRead(name=name, kind=suffix_of(name))
            yield unread(file, f"was not read. {Origin.UPLOAD.value}")[1]


def _replaced(query: Query, contents: Mapping[Key, FileContent]) -> Query:
    def read(item: Item, origin: Origin) -> Item:
        wanted = wanted_of(item, origin)
        is_read = wanted is not None and wanted.key in contents
        return item_of(item, contents[wanted.key]) if wanted and is_read else item

    def data(found: SourceData, origin: Origin) -> SourceData:
        return replace(found, items=tuple(read(item, origin) for item in found.items))

    def message(one: Message) -> Message:
        if not isinstance(one, ResultMessage):
            return one
        results = (
            data(result, origin) if isinstance(result, SourceData) else result
            for result, origin in origins_in(one)
        )
        return replace(one, data=tuple(results))

    context = tuple(
        replace(sent, data=data(sent.data, origin_of(sent, query=query))) for sent in query.context
    )
    return replace(query, messages=tuple(map(message, query.messages)), context=context)
