"""A person in the admin: logs in, reads forms and sends them back."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

from aiohttp import ClientSession, CookieJar

BOUNDARY = b"the-end-of-a-part"
MULTIPART = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}"}
NAME, PASSWORD = "builder", "a long word that nobody guesses"


class Person:
    """Somebody with a browser."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def look(self, path: str) -> str:
        """Opens a page."""
        async with self._session.get(path) as page:
            page.raise_for_status()
            return await page.text()

    async def log_in(
        self, *, name: str = NAME, password: str = PASSWORD, headers: Mapping[str, str] = {}
    ) -> int:
        """Tries to log in; returns the status, which is 302 when it worked."""
        path = "/admin/login/?next=/admin/"
        fields = form_in(await self.look(path))
        fields |= {"username": name, "password": password}
        return await self.send(path, fields, headers=headers)

    async def send(
        self, path: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] = {}
    ) -> int:
        """Sends a form; returns the status."""
        async with self._session.post(
            path, data=_pairs(fields), headers=headers, allow_redirects=False
        ) as answer:
            await answer.read()
            return answer.status

    @property
    def cookie(self) -> str:
        """What a browser would send of it, for connections that are opened without this one."""
        return "; ".join(f"{one.key}={one.value}" for one in self._session.cookie_jar)


@asynccontextmanager
async def person(port: int) -> AsyncIterator[Person]:
    """Somebody who is not logged in yet."""
    async with ClientSession(
        f"http://127.0.0.1:{port}", cookie_jar=CookieJar(unsafe=True)
    ) as session:
        yield Person(session)


def form_in(page: str) -> dict[str, Any]:
    """The fields of the forms of a page, with their values."""
    reader = _Fields()
    reader.feed(page)
    reader.close()
    return reader.fields


def multipart_type(boundary: bytes) -> dict[str, str]:
    """The header of a form with this boundary."""
    return {"Content-Type": f'multipart/form-data; boundary="{boundary.decode()}"'}


def as_multipart(
    fields: Mapping[str, Any],
    *,
    files: Mapping[str, bytes] = {},
    boundary: bytes = BOUNDARY,
) -> bytes:
    """A form with files, or long texts, as it travels."""
    parts = [(f'name="{name}"', value.encode()) for name, value in _pairs(fields)]
    parts += [(f'name="{name}"; filename="{name}.yaml"', data) for name, data in files.items()]
    rows = [
        b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n"
        % (boundary, head.encode(), data)
        for head, data in parts
    ]
    return b"".join(rows) + b"--%b--\r\n" % boundary


def _pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, one) for key, many in fields.items() for one in _listed(many)]


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _is_sent(kind: str | None, *, is_checked: bool) -> bool:
    if kind in ("checkbox", "radio"):
        return is_checked
    return kind not in ("submit", "button", "file")


class _Fields(HTMLParser):
    """Collects what a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, Any] = {}
        self._text = ""  # the name of the textarea that is open
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        kind = given.get("type", "text")
        if tag == "textarea":
            self._text = name
            self.fields[name] = ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self._add(self._select, value)
        elif tag == "input" and name and _is_sent(kind, is_checked="checked" in given):
            self._add(name, value or "on" * (kind == "checkbox"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._text = ""
        elif tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._text:
            self.fields[self._text] += data

    def _add(self, name: str, value: str) -> None:
        before = self.fields.get(name)
        self.fields[name] = value if before is None else [*_listed(before), value]
