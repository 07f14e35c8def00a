"""Reads the files of a query: from here on they are text and pictures, as far as can be read."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeAlias

from copilot_admin.engine.documents.registry import Document, data_types, format_of
from copilot_admin.engine.fetching.egress import Fetch
from copilot_admin.engine.files.contents import (
    TEXT_FORM,
    FileContent,
    FileItem,
    FileOutcome,
    ImageItem,
    item_of,
    outcome_of,
    unreadable,
    unwanted,
)
from copilot_admin.engine.files.encoded import begins_encoded, is_plain_text
from copilot_admin.engine.files.links import OPEN_TYPES, name_of_link, with_links
from copilot_admin.engine.files.pictures import IMAGE_TYPES, Picture
from copilot_admin.engine.files.rules import EVERYTHING, FileRules, Origin, origin_of, origins_in
from copilot_admin.engine.values.engine_input import FileRead
from copilot_admin.engine.values.turn import HEAVY_CHARACTERS, messages_of_turn
from copilot_admin.engine.values.uploads import is_uploaded
from protocol.messages import DataItem, FileReference, Message, ResultMessage, SourceData
from protocol.query import ContextItem, Query

MOST_FILES = 20  # of one query
MOST_SECONDS = 60.0  # for all of them
AT_ONCE = 2  # files of one query; their bytes are in memory meanwhile
MOST_TEXT = 4_000_000  # characters of all documents of one query
MOST_IMAGES = 10  # of one query; the newest are shown
MOST_IMAGE_CHARACTERS = 20 * 1024 * 1024  # in base64, of all of them; some vendors refuse 32 MB
LONGEST_NAME = 200  # characters
LONGEST_KIND = 20  # characters of a kind that is not known here
UNKNOWN_KIND = (
    "Files of this kind are not read. Save it as PDF, docx, xlsx, CSV or text, an image as PNG or "
    "JPEG, and attach that."
)

_Item: TypeAlias = DataItem | FileReference
_Key: TypeAlias = tuple[str, Origin, str]  # kind, origin, and the content or address itself


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A file of a query, with the name under which it came first."""

    key: _Key
    item: _Item
    file: FileRead
    is_new: bool  # in this turn

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return self.key[1]


class _Reading:
    """The files of one query: each is fetched and read once, however often it is repeated."""

    def __init__(self, fetch: Fetch, rules: FileRules) -> None:
        self._fetch = fetch
        self._rules = rules
        self._until = asyncio.get_running_loop().time() + MOST_SECONDS
        self._left = MOST_FILES
        self._dead: set[str] = set()  # links of which the user is told
        self.contents: dict[_Key, FileContent] = {}
        self.files: list[FileRead] = []

    async def read(self, wanted: Iterable[_Wanted]) -> None:
        """Reads files, a few at the same time; what stands first has precedence."""
        running: deque[tuple[_Wanted, asyncio.Task[FileOutcome | None]]] = deque()
        async with asyncio.TaskGroup() as group:
            for one in wanted:
                if len(running) >= AT_ONCE:
                    await self._keep(*running.popleft())
                running.append((one, group.create_task(self._outcome(one))))
            while running:
                await self._keep(*running.popleft())

    async def _outcome(self, wanted: _Wanted) -> FileOutcome | None:
        """What becomes of a file; nothing where it is text already."""
        if wanted.origin not in self._rules.origins:
            return unwanted(wanted.file, wanted.origin)
        if not _is_read(wanted.file.kind):
            return unreadable(wanted.file, UNKNOWN_KIND)
        if await _is_text_already(wanted):
            return None
        self._left -= 1
        if self._left < 0:
            return unreadable(wanted.file, f"{MOST_FILES} other files were read already.")
        try:
            async with asyncio.timeout_at(self._until):
                return await outcome_of(
                    wanted.item, wanted.file, fetch=self._fetch, rules=self._rules, asker=self
                )
        except TimeoutError:
            return unreadable(
                wanted.file,
                f"All files of a question may take {MOST_SECONDS:g} seconds. Attach fewer.",
            )

    async def _keep(self, wanted: _Wanted, task: "asyncio.Task[FileOutcome | None]") -> None:
        """Keeps what came of a file, if there is room for it."""
        outcome = await task
        if outcome is None:
            size = len(wanted.key[2].encode("utf-8", "replace"))
            self.files.append(replace(wanted.file, size=size))
            return
        content, file = outcome
        if why := self._too_much(content):
            content, file = unreadable(replace(wanted.file, size=file.size), why)
        self.contents[wanted.key] = content
        self.files.append(replace(file, is_known=self._is_known(wanted, file)))

    def _is_known(self, wanted: _Wanted, file: FileRead) -> bool:
        """Whether the user was told of a file already; of a dead link once, whatever it is called."""
        if not wanted.is_new:
            return True
        if not file.fault or not isinstance(wanted.item, FileReference):
            return False
        is_told = wanted.item.url in self._dead
        self._dead.add(wanted.item.url)
        return is_told

    def _too_much(self, content: FileContent) -> str:
        """Why there is no room for one more; empty while there is."""
        others = self.contents.values()
        match content:
            case Document():
                documents = [one for one in others if isinstance(one, Document)]
                if sum(map(_characters, (*documents, content))) > MOST_TEXT:
                    return "Together with newer files it has too much text. Attach fewer."
            case Picture():
                shown = [one for one in others if isinstance(one, Picture)]
                if len(shown) >= MOST_IMAGES:
                    return f"The model is shown {MOST_IMAGES} newer images already."
                if sum(len(one.url) for one in (*shown, content)) > MOST_IMAGE_CHARACTERS:
                    return "Together with newer images it is too large. Attach fewer."
        return ""


async def with_files_read(
    query: Query, *, fetch: Fetch, rules: FileRules = EVERYTHING
) -> tuple[Query, tuple[FileRead, ...]]:
    """The query with its files as text and pictures, and what came of each file.

    The newest files are read first: when there are too many, the oldest are left out.

    Args:
        query: Whose results and context may hold files, in base64 or as links, and whose question
            may name addresses.
        fetch: Gets the bytes behind a link.
        rules: Which of them are read; the others are told of in words.
    """
    query = with_links(query)
    reading = _Reading(fetch, rules)
    reading.files += _not_asked_for(query, rules)
    told = tuple(map(_told, reading.files))
    first: dict[_Key, _Wanted] = {}
    for item, origin, is_new in _items(query):
        if wanted := _wanted(item, origin, is_new=is_new):
            first.setdefault(wanted.key, wanted)
    if first:
        await reading.read(first.values())
        query = _replaced(query, reading.contents)
    if told:
        query = replace(query, context=(*query.context, *told))
    return query, tuple(reading.files)


def files_in(items: Iterable[object]) -> list[Document]:
    """The documents among some items."""
    return [item.document for item in items if isinstance(item, FileItem)]


def pictures_in(results: Iterable[object]) -> list[Picture]:
    """The pictures among what sources returned, in their order."""
    return [
        item.picture
        for one in results
        if isinstance(one, SourceData)
        for item in one.items
        if isinstance(item, ImageItem)
    ]


def _not_asked_for(query: Query, rules: FileRules) -> Iterator[FileRead]:
    """Files that are attached and that nobody is asked for, as the copilot takes none."""
    if Origin.UPLOAD in rules.origins:
        return
    for widget in query.widgets.primary:
        if is_uploaded(widget):
            name = (widget.name or widget.widget_id)[:LONGEST_NAME]
            kind = PurePosixPath(name).suffix.removeprefix(".").lower()
            yield unwanted(FileRead(name=name, kind=kind), Origin.UPLOAD)[1]


def _told(file: FileRead) -> ContextItem:
    """What stands for a file that nobody is asked for, so that the model knows of it."""
    item = DataItem(content=f"[{file.fault}]", data_format=TEXT_FORM, citable=False)
    return ContextItem(name=file.name, data=SourceData((item,)))


def _items(query: Query) -> Iterator[tuple[_Item, Origin, bool]]:
    """What may be a file, the newest first, and whether it came in this turn."""
    for sent in query.context:
        origin = origin_of(sent, query=query)  # looks at all items
        yield from ((item, origin, True) for item in sent.data.items)
    new = len(messages_of_turn(query))
    for number, message in enumerate(reversed(query.messages)):
        if isinstance(message, ResultMessage):
            for result, origin in origins_in(message):
                if isinstance(result, SourceData):
                    yield from ((item, origin, number < new) for item in result.items)


def _wanted(item: _Item, origin: Origin, *, is_new: bool = True) -> _Wanted | None:
    """The file that an item is; None if it is none."""
    kind = str(item.data_format.get("data_type") or "").lower()
    if not _is_file(item, kind):
        return None
    kind = kind if _is_read(kind) else kind[:LONGEST_KIND]
    source = item.url if isinstance(item, FileReference) else item.content
    unnamed = name_of_link(source) if kind in OPEN_TYPES else f"without a name ({kind})"
    name = str(item.data_format.get("filename") or unnamed)[:LONGEST_NAME]
    file = FileRead(name=name, kind=kind)
    return _Wanted(key=(kind, origin, source), item=item, file=file, is_new=is_new)


def _is_file(item: _Item, kind: str) -> bool:
    """Whether an item is a file; what came as text of a kind that is not read is none."""
    if isinstance(item, FileReference):
        return True
    return kind not in OPEN_TYPES and (_is_read(kind) or begins_encoded(item.content))


def _is_read(kind: str) -> bool:
    """Whether files of a kind are read; those of an open one say it by their bytes."""
    return kind in OPEN_TYPES or kind in IMAGE_TYPES or kind in data_types()


async def _is_text_already(wanted: _Wanted) -> bool:
    """Whether a file of a format that is text came as it is instead of in base64."""
    form = format_of(wanted.file.kind)
    if form is None or not form.is_text or isinstance(wanted.item, FileReference):
        return False
    content = wanted.item.content
    if len(content) < HEAVY_CHARACTERS:
        return is_plain_text(content)
    return await asyncio.to_thread(is_plain_text, content)


def _characters(document: Document) -> int:
    return sum(len(page.text) for page in document.pages)


def _replaced(query: Query, contents: Mapping[_Key, FileContent]) -> Query:
    """The query with what came of its files in their place."""

    def data(found: SourceData, origin: Origin) -> SourceData:
        return replace(found, items=tuple(one_item(item, origin) for item in found.items))

    def one_item(item: _Item, origin: Origin) -> _Item:
        wanted = _wanted(item, origin)
        content = contents.get(wanted.key) if wanted else None
        return item if content is None else item_of(item, content)

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
