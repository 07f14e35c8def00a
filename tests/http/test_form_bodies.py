"""Forms of the admin that are too large: the file goes, what was typed stays."""

import asyncio
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import QueryDict
from django.http.multipartparser import MultiPartParser
import pytest

from copilot_admin.http.bodies import ENCODED_BYTES, LOG_IN_BYTES, BodyLimits
from copilot_admin.http.form_bodies import TOO_LARGE_TYPE, FormBody, form_boundary
from tests.agent.virtual_time import run_at_once
from tests.http.asgi_client import Answer, call, scope
from tests.http.test_edge import QUERY, echo

BOUNDARY = "----line"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"
LIMIT = 1000
ADMIN = "/admin/copilot_admin/copilot/add/"


def part(name: str, content: bytes, *, file: str = "") -> bytes:
    named = f'Content-Disposition: form-data; name="{name}"'
    if file:
        named += f'; filename="{file}"\r\nContent-Type: image/png'
    return f"--{BOUNDARY}\r\n{named}\r\n\r\n".encode() + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


def kept_of(body: bytes, *, size: int) -> FormBody:
    kept = FormBody(BOUNDARY.encode(), max_bytes=LIMIT)
    for piece in pieces(body, size):
        kept.add(piece)
    return kept


def read(body: bytes) -> tuple[QueryDict, dict[str, tuple[str, int]]]:
    """What Django makes of a body: fields, and name, type and size of each file."""
    meta = {"CONTENT_TYPE": TYPE, "CONTENT_LENGTH": str(len(body))}
    fields, files = MultiPartParser(meta, BytesIO(body), [MemoryFileUploadHandler()]).parse()
    sizes = {name: (file.content_type, file.size) for name, file in files.items()}  # type: ignore[union-attr]
    return fields, sizes


PROMPT = part("prompt", b"Be brief.")
LARGE = part("image", b"\r\n--" * 2000, file="a.png")
SMALL = part("icon", b"x" * 10, file="b.png")
WITHOUT_CONTENT = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n'
    "Content-Type: application/vnd.copilot-admin.too-large\r\n\r\n\r\n"
).encode()


def test_a_form_within_the_limit_arrives_as_it_was_sent():
    body = form(PROMPT, SMALL)
    assert kept_of(body, size=7).whole() == body


@pytest.mark.parametrize("size", [1, 2, 3, 60, 61, 997, 100_000])
@pytest.mark.parametrize(
    "parts",
    [(PROMPT, LARGE), (LARGE, PROMPT), (PROMPT, LARGE, LARGE)],
    ids=["last", "first", "twice"],
)
def test_a_file_that_is_too_large_leaves_its_name_and_the_fields(parts, size):
    kept = kept_of(form(*parts), size=size)
    fields, files = read(kept.whole())
    assert fields.dict() == {"prompt": "Be brief."}
    assert files == {"image": ("application/vnd.copilot-admin.too-large", 0)}
    assert kept.size <= LIMIT


def test_of_a_file_that_goes_nothing_but_its_content_and_its_type_goes():
    assert kept_of(form(PROMPT, LARGE, SMALL), size=100_000).whole() == form(
        PROMPT, WITHOUT_CONTENT, WITHOUT_CONTENT.replace(b"image", b"icon").replace(b"a.", b"b.")
    )


@pytest.mark.parametrize(("more", "goes"), [(0, True), (1, False)])
def test_files_go_only_when_that_leaves_half_of_what_may_be_kept(more, goes):
    without = len(
        part("prompt", b"") + WITHOUT_CONTENT
    )  # kept with a line end before it, not after
    typed = part("prompt", b"x" * (LIMIT // 2 - without + more))
    kept = kept_of(form(typed, LARGE), size=LIMIT + 1)
    assert (kept.size <= LIMIT) is goes


def test_a_form_as_long_as_the_limit_keeps_its_files():
    body = form(part("icon", b"x" * (LIMIT - len(form(part("icon", b"", file="b")))), file="b"))
    assert len(body) == LIMIT
    assert kept_of(body, size=7).whole() == body


def test_a_file_after_the_one_that_went_arrives_whole():
    _, files = read(kept_of(form(LARGE, PROMPT, SMALL), size=50).whole())
    assert files == {"image": (TOO_LARGE_TYPE, 0), "icon": ("image/png", 10)}


def test_text_that_is_too_large_stays_too_large():
    assert kept_of(form(part("prompt", b"x" * LIMIT), LARGE), size=100).size > LIMIT


@pytest.mark.parametrize(
    ("path", "content_type", "boundary"),
    [
        (ADMIN, TYPE, BOUNDARY.encode()),
        (ADMIN, f'Multipart/Form-Data; boundary="{BOUNDARY}"', BOUNDARY.encode()),
        (ADMIN, "multipart/form-data", None),
        (ADMIN, f"application/json; boundary={BOUNDARY}", None),
        (ADMIN, "multipart/form-data; boundary*=odd'en'x", None),
        (ADMIN, "application/x-www-form-urlencoded", None),
        (QUERY, TYPE, None),
    ],
)
def test_only_forms_of_pages_have_a_boundary(path, content_type, boundary):
    assert form_boundary(scope(path, headers={"Content-Type": content_type})) == boundary


def test_other_bodies_have_none():
    assert form_boundary(scope(ADMIN)) is None


def sent(body: bytes, *, limit: int = LIMIT, declared: int | None = None) -> Answer:
    headers = {
        "Content-Type": TYPE,
        "Content-Length": str(len(body) if declared is None else declared),
        "Accept": "text/html",
    }
    request = scope(ADMIN, method="POST", headers=headers)
    return call(BodyLimits(told_length, max_bytes=limit), request, body=pieces(body, 64))


async def told_length(request, receive, send) -> None:
    lengths = [value for name, value in request["headers"] if name == b"content-length"]
    request["answer_headers"] = [(b"x-length", b",".join(lengths))]
    await echo(request, receive, send)


def test_the_application_gets_the_shorter_form_and_its_length():
    answer = sent(form(PROMPT, LARGE))
    assert read(answer.body)[0].dict() == {"prompt": "Be brief."}
    assert (answer.status, answer.header("x-length")) == (200, str(len(answer.body)))


@pytest.mark.parametrize(
    ("parts", "declared"),
    [((part("prompt", b"x" * LIMIT),), None), ((PROMPT,), 257 * 1024 * 1024)],
    ids=["text", "beyond reading"],
)
def test_a_form_that_stays_too_large_is_refused_with_a_page(
    parts: Sequence[bytes], declared: int | None
):
    answer = sent(form(*parts), declared=declared)
    assert (answer.status, answer.header("connection")) == (413, "close")
    assert b"Go back one page in your browser" in answer.body
    assert b"COPILOT_MAX_BODY_MB" in answer.body


@pytest.mark.parametrize("path", ["/admin/login/", "/admin/password-reset/a/b/"])
@pytest.mark.parametrize("content_type", [TYPE, "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("is_declared", [True, False])
def test_a_form_to_log_in_is_read_as_far_as_anybody_needs(path, content_type, is_declared):
    headers = {"Content-Type": content_type, "Accept": "text/html"}
    limits = BodyLimits(echo, max_bytes=20 * LOG_IN_BYTES)
    for size, status in ((LOG_IN_BYTES, 200), (LOG_IN_BYTES + 1, 413)):
        length = {"Content-Length": str(size)} if is_declared else {}
        request = scope(path, method="POST", headers={**headers, **length})
        answer = call(limits, request, body=pieces(LARGE + b"x" * (size - len(LARGE)), 10_000))
        assert (answer.status, limits.room.taken) == (status, 0)
    assert (
        b"The form is longer than the 64 KB that are read of it. Write less into it." in answer.body
    )


ENCODED = {
    "Content-Type": "Application/X-WWW-Form-URLEncoded; charset=utf-8",
    "Accept": "text/html",
}


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [(ADMIN, 0, 200), (ADMIN, 1, 413), ("/nowhere", 1, 413), (QUERY, 1, 200)],
)
def test_of_a_form_that_is_decoded_by_the_character_a_megabyte_is_read(path, more, status):
    limits = BodyLimits(echo, max_bytes=20 * ENCODED_BYTES)
    body = b"%" * (ENCODED_BYTES + more)
    answer = call(limits, scope(path, method="POST", headers=ENCODED), body=pieces(body, 2**16))
    assert (answer.status, limits.room.taken) == (status, 0)


@pytest.mark.parametrize(
    ("size", "limit", "taken"),
    [(1000, 1_000_000, 24_000), (1000, 10_000, 10_000)],
    ids=["as it is decoded", "no more than there is for one"],
)
def test_such_a_form_takes_the_room_that_decoding_it_does(size, limit, taken):
    seen: list[int] = []

    async def look(request, receive, send) -> None:
        seen.append(limits.room.taken)
        await echo(request, receive, send)

    limits = BodyLimits(look, max_bytes=limit)
    call(limits, scope(ADMIN, method="POST", headers=ENCODED), body=[b"%" * size])
    assert seen == [taken]


def test_such_forms_that_come_at_once_are_decoded_in_turn():
    """Weighed only when all have come, they waited for each other's room."""
    limits = BodyLimits(echo, max_bytes=20 * ENCODED_BYTES)
    statuses: list[int] = []

    async def one() -> None:
        coming = pieces(b"%" * ENCODED_BYTES, 2**17)

        async def receive() -> Any:
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": coming.pop(0), "more_body": bool(coming)}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await limits(scope(ADMIN, method="POST", headers=ENCODED), receive, send)

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(40)))

    run_at_once(all_of_them())
    assert (statuses, limits.room.taken) == ([200] * 40, 0)
