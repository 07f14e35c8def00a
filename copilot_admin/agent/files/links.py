"""Links in a question and the files that are read from them."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeAlias

from copilot_admin.agent.documents.registry import data_types, format_of
from copilot_admin.agent.files.encoded import begins_encoded, is_plain_text
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.agent.files.rules import LINK, Origin, origin_of, origins_in
from copilot_admin.agent.values.engine_input import FileRead
from copilot_admin.agent.values.turn import HEAVY_CHARACTERS, messages_of_turn
from protocol.models import ContextItem, DataItem, FileReference, Query, ResultMessage, SourceData
from protocol.redaction import redact_url

# `data_type`s that say nothing of the bytes: none at all, and an object, which may be any data.
OPEN_TYPES = frozenset({"", "object", LINK})


def with_links(query: Query) -> Query:
    """The query with what is behind the addresses in its question as files of its context."""
    if not query.urls:
        return query
    return replace(query, context=(*query.context, *map(_linked, dict.fromkeys(query.urls))))


def _linked(url: str) -> ContextItem:
    address = url if "://" in url else f"https://{url}"
    reference = FileReference(url=address, data_format={"data_type": LINK}, citable=False)
    return ContextItem(
        name=name_of_link(url),
        description="Behind an address in the question.",
        data=SourceData((reference,)),
    )


def name_of_link(url: str) -> str:
    """What people are told of a link: its address, without what only the client may know."""
    return redact_url(url)


def suffix_of(url: str) -> str:
    """Return the suffix of the path of a URL, without the dot."""
    path = url.partition("#")[0].partition("?")[0]
    return PurePosixPath(path).suffix.lower().removeprefix(".")


LONGEST_NAME = 200  # characters
LONGEST_KIND = 20  # characters of a kind that is not known here

Item: TypeAlias = DataItem | FileReference
Key: TypeAlias = tuple[str, Origin, str]  # kind, origin, and the content or address itself


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file of a query, with the name under which it came first."""

    key: Key
    item: Item
    file: FileRead
    is_new: bool  # in this turn

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return self.key[1]


def wanted_in(query: Query) -> tuple[WantedFile, ...]:
    """The files of a query, the newest first, each once."""
    found: dict[Key, WantedFile] = {}
    for item, origin, is_new in _items(query):
        if wanted := wanted_of(item, origin, is_new=is_new):
            found.setdefault(wanted.key, wanted)
    return tuple(found.values())


def _items(query: Query) -> Iterator[tuple[Item, Origin, bool]]:
    for sent in query.context:
        origin = origin_of(sent, query=query)  # looks at all items
        yield from ((item, origin, True) for item in sent.data.items)
    new = len(messages_of_turn(query))
    for number, message in enumerate(reversed(query.messages)):
        if isinstance(message, ResultMessage):
            for result, origin in origins_in(message):
                if isinstance(result, SourceData):
                    yield from ((item, origin, number < new) for item in result.items)


def wanted_of(item: Item, origin: Origin, *, is_new: bool = True) -> WantedFile | None:
    """The file that an item is; None if it is none."""
    kind = str(item.data_format.get("data_type") or "").lower()
    if not _is_file(item, kind):
        return None
    kind = kind if is_read(kind) else kind[:LONGEST_KIND]
    source = item.url if isinstance(item, FileReference) else item.content
    unnamed = name_of_link(source) if kind in OPEN_TYPES else f"without a name ({kind})"
    name = str(item.data_format.get("filename") or unnamed)[:LONGEST_NAME]
    file = FileRead(name=name, kind=kind)
    return WantedFile(key=(kind, origin, source), item=item, file=file, is_new=is_new)


def _is_file(item: Item, kind: str) -> bool:
    if isinstance(item, FileReference):
        return True
    return kind not in OPEN_TYPES and (is_read(kind) or begins_encoded(item.content))


def is_read(kind: str) -> bool:
    return kind in OPEN_TYPES or kind in IMAGE_TYPES or kind in data_types()


async def is_text_already(wanted: WantedFile) -> bool:
    form = format_of(wanted.file.kind)
    if form is None or not form.is_text or isinstance(wanted.item, FileReference):
        return False
    content = wanted.item.content
    if len(content) < HEAVY_CHARACTERS:
        return is_plain_text(content)
    return await asyncio.to_thread(is_plain_text, content)
