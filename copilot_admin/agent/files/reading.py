"""Conversion of the files of a query to text and pictures."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

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
    unreadable,
    unwanted,
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


class _Reading:
    """The files of one query: each is fetched and read only one time, however often it appears."""

    def __init__(self, fetch: Fetch, rules: FileRules) -> None:
        self._fetch = fetch
        self._rules = rules
        self._until = asyncio.get_running_loop().time() + MAX_SECONDS
        self._left = MAX_FILES
        self.contents: dict[Key, FileContent] = {}
        self.files: list[FileRead] = []

    async def read(self, wanted: Iterable[WantedFile]) -> None:
        """Read files, a few at the same time; earlier ones have precedence."""
        running: deque[tuple[WantedFile, asyncio.Task[FileOutcome | None]]] = deque()
        async with asyncio.TaskGroup() as group:
            for one in wanted:
                if len(running) >= MAX_CONCURRENT:
                    await self._store_outcome(*running.popleft())
                running.append((one, group.create_task(self._outcome(one))))
            while running:
                await self._store_outcome(*running.popleft())

    async def _outcome(self, wanted: WantedFile) -> FileOutcome | None:
        if wanted.origin not in self._rules.origins:
            return unwanted(wanted.file, wanted.origin)
        if is_text_already(wanted):
            return None
        self._left -= 1
        if self._left < 0:
            return unreadable(wanted.file, f"{MAX_FILES} other files were read already.")
        try:
            async with asyncio.timeout_at(self._until):
                return await outcome_of(
                    wanted.item, wanted.file, fetch=self._fetch, rules=self._rules
                )
        except TimeoutError:
            return unreadable(
                wanted.file,
                f"All files of a question may take {MAX_SECONDS:g} seconds. Attach fewer.",
            )

    async def _store_outcome(
        self, wanted: WantedFile, task: "asyncio.Task[FileOutcome | None]"
    ) -> None:
        outcome = await task
        if outcome is None:
            size = len(wanted.key[2].encode("utf-8", "replace"))
            self.files.append(replace(wanted.file, size=size))
            return
        content, file = outcome
        content = self._without_pictures_over_limit(content)
        if why := self._too_much(content):
            content, file = unreadable(replace(wanted.file, size=file.size), why)
        self.files.append(replace(file, is_known=not wanted.is_new))
        self.contents[wanted.key] = content

    def _included_pictures(self) -> list[Picture]:
        """Return the pictures that are already part of the model's input."""
        return [one for content in self.contents.values() for one in pictures_of(content)]

    def _without_pictures_over_limit(self, content: FileContent) -> FileContent:
        """Return a document without pictures of pages that exceed the limits."""
        if not isinstance(content, Document):
            return content
        shown = self._included_pictures()
        left, characters_left = (
            MAX_IMAGES - len(shown),
            MAX_IMAGE_CHARACTERS - sum(len(one.url) for one in shown),
        )
        pages = []
        for page in content.pages:
            left -= bool(page.picture)
            characters_left -= len(page.picture)
            pages.append(page if left >= 0 and characters_left >= 0 else replace(page, picture=""))
        return replace(content, pages=tuple(pages))

    def _too_much(self, content: FileContent) -> str:
        others = self.contents.values()
        match content:
            case Document():
                documents = [one for one in others if isinstance(one, Document)]
                if sum(map(_characters, (*documents, content))) > MAX_TEXT:
                    return "Together with newer files it has too much text. Attach fewer."
            case Picture():
                shown = self._included_pictures()
                if len(shown) >= MAX_IMAGES:
                    return f"The model is shown {MAX_IMAGES} newer images already."
                if sum(len(one.url) for one in (*shown, content)) > MAX_IMAGE_CHARACTERS:
                    return "Together with newer images it is too large. Attach fewer."
        return ""


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
    reading = _Reading(fetch, rules)
    refused = list(_disabled_uploads(query, rules))
    if wanted := wanted_in(query):
        await reading.read(wanted)
        query = _replaced(query, reading.contents)
    if refused:
        query = replace(query, context=(*query.context, *map(_context_item, refused)))
    return query, (*refused, *reading.files)


def files_in(items: Iterable[object]) -> list[Document]:
    """Return the documents among some items."""
    return [item.document for item in items if isinstance(item, FileItem)]


def pictures_in(results: Iterable[object]) -> list[Picture]:
    """Return the pictures in results of sources, in their order."""
    pictures: list[Picture] = []
    for result in results:
        for item in result.items if isinstance(result, SourceData) else ():
            match item:
                case ImageItem(picture=picture):
                    pictures.append(picture)
                case FileItem(document=document):
                    pictures += pictures_of(document)
    return pictures


def _disabled_uploads(query: Query, rules: FileRules) -> Iterator[FileRead]:
    if Origin.UPLOAD in rules.origins:
        return
    for widget in query.widgets.primary:
        if is_uploaded(widget):
            name = (widget.name or widget.widget_id)[:MAX_NAME]
            kind = PurePosixPath(name).suffix.removeprefix(".").lower()
            yield unwanted(FileRead(name=name, kind=kind), Origin.UPLOAD)[1]


def _context_item(file: FileRead) -> ContextItem:
    item = DataItem(content=f"[{file.fault}]", data_format=TEXT_FORM, citable=False)
    return ContextItem(name=file.name, data=SourceData((item,)))


def _characters(document: Document) -> int:
    return sum(len(page.text) for page in document.pages)


def _replaced(query: Query, contents: Mapping[Key, FileContent]) -> Query:
    def data(found: SourceData, origin: Origin) -> SourceData:
        return replace(found, items=tuple(one_item(item, origin) for item in found.items))

    def one_item(item: Item, origin: Origin) -> Item:
        wanted = wanted_of(item, origin)
        if wanted is None or wanted.key not in contents:
            return item
        return item_of(item, contents[wanted.key])

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
