"""Conversion of the files of a query to text and pictures."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
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
        file = wanted.file
        if wanted.origin not in self._rules.origins:
            return unread(file, f"was not read. {wanted.origin.value}")
        if is_text_already(wanted):
            return None
        self._left -= 1
        if self._left < 0:
            return unread(file, f"could not be read. {MAX_FILES} other files were read already.")
        try:
            async with asyncio.timeout_at(self._until):
                return await outcome_of(wanted.item, file, fetch=self._fetch, rules=self._rules)
        except TimeoutError:
            return unread(
                file,
                f"could not be read. All files of a question may take {MAX_SECONDS:g} seconds. "
                "Attach fewer.",
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
        if isinstance(content, Document):
            content = self._without_pictures_over_limit(content)
        if excess := self._describe_excess(content):
            file = replace(wanted.file, size=file.size)
            content, file = unread(file, f"could not be read. {excess}")
        self.files.append(replace(file, is_known=not wanted.is_new))
        self.contents[wanted.key] = content

    def _included_pictures(self) -> list[str]:
        """Return the pictures that are already part of the model's input."""
        return [one.url for content in self.contents.values() for one in pictures_of(content)]

    def _without_pictures_over_limit(self, content: Document) -> Document:
        pictures = self._included_pictures()
        pages = []
        for page in content.pages:
            pictures += [page.picture] if page.picture else []
            fits = len(pictures) <= MAX_IMAGES and sum(map(len, pictures)) <= MAX_IMAGE_CHARACTERS
            pages.append(page if fits else replace(page, picture=""))
        return replace(content, pages=tuple(pages))

    def _describe_excess(self, content: FileContent) -> str:
        """Return why a file doesn't fit into the limits of a question, or ""."""
        if isinstance(content, Document):
            documents = [one for one in self.contents.values() if isinstance(one, Document)]
            pages = (page for one in (*documents, content) for page in one.pages)
            if sum(len(page.text) for page in pages) > MAX_TEXT:
                return "Together with newer files it has too much text. Attach fewer."
        elif isinstance(content, Picture):
            shown = self._included_pictures()
            if len(shown) >= MAX_IMAGES:
                return f"The model is shown {MAX_IMAGES} newer images already."
            if sum(map(len, shown)) + len(content.url) > MAX_IMAGE_CHARACTERS:
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
    refused = [] if Origin.UPLOAD in rules.origins else list(_refused_uploads(query))
    if wanted := wanted_in(query):
        await reading.read(wanted)
        query = _replaced(query, reading.contents)
    notes = []
    for file in refused:
        item = DataItem(content=f"[{file.fault}]", data_format=TEXT_FORM, citable=False)
        notes.append(ContextItem(name=file.name, data=SourceData((item,))))
    return replace(query, context=(*query.context, *notes)), (*refused, *reading.files)


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
