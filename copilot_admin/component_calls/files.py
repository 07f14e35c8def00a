"""Reads the files that come with a call of a component, so that it finds them as text."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from copilot_admin.agent.components.inputs import SourceDocument, source_document
from copilot_admin.agent.documents.registry import (
    UnreadableFile,
    data_types,
)
from copilot_admin.agent.fetching.addresses import parts_of
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.file_processes import read_document
from copilot_admin.agent.files.reading import MOST_FILES
from copilot_admin.errors import InvalidCall

NAMES = "Its name must end in one of: {}."
MOST_SECONDS = 90.0  # for all files of a call
FILE_URLS = "_sys_file_urls"
UPLOADED = ("_sys_uploaded_files", "uploaded_files")


async def read_files(parameters: Mapping[str, Any], *, fetch: Fetch) -> tuple[SourceDocument, ...]:
    """The files that the parameters of a call name by address, as text.

    One is read after the other, so that only one is in memory as bytes.

    Args:
        parameters: As the caller sent them.
        fetch: Gets the bytes behind an address.

    Raises:
        InvalidCall: A file is not named as it should be, or cannot be had or read.
    """
    wanted = tuple(_wanted(parameters))
    if len(wanted) > MOST_FILES:
        raise InvalidCall(
            f"At most {MOST_FILES} files are read in one call.", code="too-many-files"
        )
    documents = []
    try:
        async with asyncio.timeout(MOST_SECONDS):
            for name, url in wanted:
                documents.append(await _read(name, url, fetch))
    except TimeoutError:
        raise InvalidCall(
            f"The files were not read within {MOST_SECONDS:g} seconds. Send fewer of them.",
            code="unreadable-file",
        ) from None
    return tuple(documents)


def _wanted(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    urls = parameters.get(FILE_URLS) or {}
    if not isinstance(urls, Mapping):
        raise _misnamed(FILE_URLS, '{"report.pdf": "https://..."}')
    for name, url in urls.items():
        if not isinstance(url, str):
            raise _misnamed(FILE_URLS, '{"report.pdf": "https://..."}')
        yield name, url
    for parameter in UPLOADED:
        files = parameters.get(parameter) or ()
        for file in files if isinstance(files, list) else (files,) if files else ():
            url = file.get("url") if isinstance(file, Mapping) else None
            if not isinstance(url, str):
                raise _misnamed(parameter, '[{"filename": "report.pdf", "url": "https://..."}]')
            yield str(file.get("filename") or _last_part(url)), url


async def _read(name: str, url: str, fetch: Fetch) -> SourceDocument:
    kind = _kind(name) or _kind(_last_part(url))
    try:
        if kind is None:
            raise UnreadableFile(NAMES.format(", ".join(sorted(data_types()))))
        async with fetch(url) as data:
            document, _ = await read_document(data, data_type=kind, name=name)
    except (UnreadableFile, FetchFailed) as error:
        raise InvalidCall(
            f"The file {name!r} could not be read. {error.public}", code="unreadable-file"
        ) from error
    return source_document(document)


def read_upload(data: bytes, *, name: str) -> SourceDocument:
    """A file that was uploaded, as text; blocks, so call it where no event loop runs.

    Raises:
        UnreadableFile: It cannot be read; the text says why.
    """
    kind = _kind(name)
    if kind is None:
        raise UnreadableFile(NAMES.format(", ".join(sorted(data_types()))))
    document, _ = asyncio.run(read_document(data, data_type=kind, name=name))
    return source_document(document)


def _last_part(url: str) -> str:
    try:
        return PurePosixPath(unquote(parts_of(url).path)).name
    except ValueError:
        return ""


def _kind(name: str) -> str | None:
    kind = PurePosixPath(name).suffix.removeprefix(".").lower()
    return kind if kind in data_types() else None


def _misnamed(parameter: str, example: str) -> InvalidCall:
    return InvalidCall(f"{parameter} must look like {example}.", code="bad-parameters")
