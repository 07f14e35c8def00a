"""Files that come with a call of a component, as text."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from copilot_admin.agent.components.inputs import SourceDocument, source_document
from copilot_admin.agent.documents.document import Document, UnreadableFile
from copilot_admin.agent.documents.registry import data_types
from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.files.file_reader import read_file
from copilot_admin.agent.files.reading import MAX_FILES
from copilot_admin.agent.files.selection import suffix_of
from copilot_admin.errors import InvalidCall

MAX_SECONDS = 90.0  # for all files of a call
FILE_URLS = "_sys_file_urls"
UPLOADED = ("_sys_uploaded_files", "uploaded_files")


async def read_files(parameters: Mapping[str, Any], *, fetch: Fetch) -> tuple[SourceDocument, ...]:
    """Read the files that the parameters of a call name; raise `InvalidCall` for an unreadable one."""
    files = tuple(_named_files(parameters))
    if len(files) > MAX_FILES:
        raise InvalidCall(f"At most {MAX_FILES} files are read in one call.", code="too-many-files")
    try:
        async with asyncio.timeout(MAX_SECONDS):
            return tuple([await _read_file(name, url, fetch) for name, url in files])
    except TimeoutError:
        raise InvalidCall(
            f"The files were not read within {MAX_SECONDS:g} seconds. Send fewer of them.",
            code="unreadable-file",
        ) from None


def read_upload(data: bytes, *, name: str) -> SourceDocument:
    """Read an uploaded file or raise `UnreadableFile`; blocks, so call it outside an event loop."""
    return asyncio.run(_read(data, name=name, data_type=_data_type(name)))


def _named_files(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    urls = parameters.get(FILE_URLS) or {}
    for name, url in urls.items() if isinstance(urls, Mapping) else ((FILE_URLS, None),):
        if not isinstance(url, str):
            raise _malformed(FILE_URLS, '{"report.pdf": "https://..."}')
        yield name, url
    for parameter in UPLOADED:
        files = parameters.get(parameter) or []
        for file in files if isinstance(files, list) else [files]:
            url = file.get("url") if isinstance(file, Mapping) else None
            if not isinstance(url, str):
                raise _malformed(parameter, '[{"filename": "report.pdf", "url": "https://..."}]')
            yield str(file.get("filename") or _last_part(url)), url


def _malformed(parameter: str, example: str) -> InvalidCall:
    return InvalidCall(f"{parameter} must look like {example}.", code="bad-parameters")


async def _read_file(name: str, url: str, fetch: Fetch) -> SourceDocument:
    try:
        data_type = _data_type(name, _last_part(url))
        async with fetch(url) as data:
            return await _read(data, name=name, data_type=data_type)
    except (UnreadableFile, FetchFailed) as error:
        raise InvalidCall(
            f"The file {name!r} could not be read. {error.public}", code="unreadable-file"
        ) from error


async def _read(data: bytes, *, name: str, data_type: str) -> SourceDocument:
    found = await read_file(data, data_type=data_type, name=name)
    if not isinstance(found.content, Document):
        raise UnreadableFile("It is a picture. Attach a document.")
    return source_document(found.content)


def _data_type(*names: str) -> str:
    for name in names:
        if (suffix := suffix_of(name)) in data_types():
            return suffix
    raise UnreadableFile(f"Its name must end in one of: {', '.join(sorted(data_types()))}.")


def _last_part(url: str) -> str:
    path = url.partition("#")[0].partition("?")[0]
    return unquote(path.rpartition("/")[2])
