"""A form is walked once, as it comes, whatever strangers put into it."""

from random import Random
import tracemalloc

import pytest

from copilot_admin.http.bodies import BodyLimits
from copilot_admin.http.form_bodies import TOO_LARGE_TYPE, FormBody
from tests.http.asgi_client import call, scope
from tests.http.test_edge import echo
from tests.http.test_form_bodies import (
    ADMIN,
    BOUNDARY,
    LARGE,
    LIMIT,
    PROMPT,
    SMALL,
    form,
    kept_of,
    part,
    pieces,
    read,
)

MESSAGE_BYTES = 2**16
EMPTY = f"--{BOUNDARY}\r\n".encode()
DELIMITERS = (b"\r\n--aa\r\n\r\n", b"\r\n--a", b"\r\n--axy", b"\r\n--axy34567890", b"\r\n")


def walked(body: bytes, *, limit: int) -> FormBody:
    kept = FormBody(b"a", max_bytes=limit)
    for at in range(0, len(body), MESSAGE_BYTES):
        kept.add(body[at : at + MESSAGE_BYTES])
    return kept


@pytest.mark.parametrize("piece", DELIMITERS)
def test_a_body_of_delimiters_takes_no_memory_but_its_own(piece):
    """An object for each of them took 600 MB for a body of 21."""
    body = piece * (1_000_000 // len(piece))
    tracemalloc.start()
    try:
        assert walked(body, limit=len(body) - 1).size == len(body)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * len(body)
    finally:
        tracemalloc.stop()


def test_a_form_of_more_parts_than_are_read_stays_too_large(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3, 1
    assert kept_of(form(*[EMPTY] * 4, LARGE), size=50).size <= LIMIT, "six, with the end"
    assert kept_of(form(*[EMPTY] * 6, LARGE), size=50).size > LIMIT


def test_parts_of_files_that_have_gone_count_further(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2, 2
    assert kept_of(form(LARGE, *[EMPTY] * 3, LARGE), size=50).size <= LIMIT
    assert kept_of(form(LARGE, *[EMPTY] * 5, LARGE), size=50).size > LIMIT


def test_a_form_of_more_files_than_are_read_stays_too_large(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 1
    assert kept_of(form(PROMPT, LARGE), size=10_000).size <= LIMIT
    assert kept_of(form(PROMPT, SMALL, LARGE), size=10_000).size > LIMIT


def test_a_head_that_is_longer_than_what_is_read_of_one_is_that_of_no_file():
    long = part("image", b"x", file="a" * 2 * LIMIT)
    assert kept_of(form(PROMPT, long), size=50).size > LIMIT


def test_who_stays_too_large_is_not_looked_at_again():
    kept = kept_of(form(part("prompt", b"x" * LIMIT)), size=50)
    before = kept.size
    kept.add(form(LARGE))
    assert kept.size == before + len(form(LARGE))


@pytest.mark.parametrize("piece", DELIMITERS)
def test_a_body_of_delimiters_is_refused(piece):
    headers = {"Content-Type": "multipart/form-data; boundary=a", "Accept": "text/html"}
    limits = BodyLimits(echo, max_bytes=2 * MESSAGE_BYTES)
    body = pieces(piece * (3 * MESSAGE_BYTES // len(piece)), MESSAGE_BYTES)
    answer = call(limits, scope(ADMIN, method="POST", headers=headers), body=body)
    assert (answer.status, limits.room.taken) == (413, 0)


def drawn_parts(random: Random) -> list[bytes]:
    """Fields and files, and what nearly ends them."""
    hostile = (
        b"\r\n",
        b"--",
        b"\r\n--",
        b"\r\n----lin",
        b"----line",
        b"\r\n\r\n",
        b"filename=",
        b"x",
    )
    contents = [
        b"".join(random.choices(hostile, k=random.choice((0, 1, 5, 300))))
        .replace(b"\r\n----line", b"")
        .replace(b"----line", b"line")
        for _ in range(6)
    ]
    names = [random.choice(("", "a.png")) for _ in contents]
    return [
        part(f"part{number}", content, file=name)
        for number, (content, name) in enumerate(zip(contents, names, strict=True))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_however_a_form_is_cut_its_fields_stay_and_its_files_are_whole_or_gone(seed):
    random = Random(seed)
    body = form(*drawn_parts(random))
    fields, files = read(body)
    kept = kept_of(body, size=random.choice((1, 2, 3, 10, 70, 500, 10_000)))
    if kept.size > LIMIT:
        assert kept.whole().endswith(body[-LIMIT // 2 :])
        return
    fields_kept, files_kept = read(kept.whole())
    assert fields_kept == fields
    assert files_kept.keys() == files.keys()
    for name, kept_file in files_kept.items():
        assert kept_file in (files[name], (TOO_LARGE_TYPE, 0))
