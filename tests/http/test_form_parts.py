"""A form whose parts would take long to read is refused before one is read."""

from contextlib import suppress
from io import BytesIO

from django.core.exceptions import TooManyFieldsSent
from django.http.multipartparser import MultiPartParserError
import pytest

from copilot_admin.http.django_handler import Request
from copilot_admin.http.form_parts import (
    LONGEST_HEAD,
    MOST_PARAMETERS,
    PIECE_BYTES,
    check_parts,
)
from tests.http.asgi_client import scope
from tests.http.test_form_bodies import BOUNDARY, PROMPT, SMALL, TYPE, form, part

DELIMITER = BOUNDARY.encode()


def headed(head: str, content: bytes = b"x") -> bytes:
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"


NAMELESS = headed('Content-Disposition: form-data; filename="a"')
LABOURED = [
    headed("Content-Disposition: form-data; name=a" + ";" * MOST_PARAMETERS),
    headed("Content-Disposition: form-data; name=a\r\nX: ;" + "\r\n;" * MOST_PARAMETERS),
    headed("Content-Disposition: form-data; name=a; filename=" + "b;" * MOST_PARAMETERS),
    headed("Content-Disposition: form-data; name*=Punycode''a-b"),
    headed("Content-Disposition: form-data; name=a; filename*0*= \"punycode''a-b\"; filename*1=c"),
]


def request_with(body: bytes) -> Request:
    return Request(scope("/admin/", method="POST", headers={"Content-Type": TYPE}), BytesIO(body))


def test_what_browsers_send_passes(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2, 1
    text = part("prompt", b";" * 10_000)
    named = part("image", b"x", file=";" * (MOST_PARAMETERS - 2))
    encoded = headed("Content-Disposition: form-data; name=a; filename*=UTF-8''%E2%82%AC")
    for body in (form(), form(PROMPT, SMALL), form(text, named), form(encoded), b""):
        check_parts(body, DELIMITER)


@pytest.mark.parametrize("laboured", LABOURED)
def test_a_part_that_says_too_much_of_itself_is_not_read(laboured):
    request = request_with(form(PROMPT, laboured))
    with pytest.raises(MultiPartParserError):
        len(request.POST)
    assert (dict(request.POST), dict(request.FILES)) == ({}, {}), "a page may look again"


def test_files_without_a_name_are_counted_too(settings):
    """They stand in neither of the two counts of Django."""
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 5, 3
    assert not request_with(form(*[NAMELESS] * 9)).POST
    request = request_with(form(*[NAMELESS] * 10))
    with pytest.raises(TooManyFieldsSent):
        len(request.POST)
    assert not request.POST, "a page may look again"


def test_a_head_that_is_longer_than_what_is_looked_at_is_not_read():
    """Its parameters are not counted: Django takes it for no head."""
    head = "Content-Disposition: form-data; name=a" + " " * LONGEST_HEAD + ";" * 99
    request = request_with(form(headed(head, b"x" * 5000)))
    with suppress(MultiPartParserError):
        assert not request.POST


class Searched(bytes):
    """A body that notes how much of it is searched in one call."""

    most = 0

    def find(self, what: bytes, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        self.most = max(self.most, (len(self) if end is None else end) - start)
        return super().find(what, start, end)

    def count(self, what: bytes) -> int:  # type: ignore[override]
        self.most = len(self)
        return super().count(what)


def test_no_more_than_a_piece_is_searched_in_one_call():
    """In which no other thread runs."""
    body = Searched(b"-" * 3 * PIECE_BYTES)
    check_parts(body, DELIMITER)
    assert 0 < body.most < PIECE_BYTES + 100


@pytest.mark.parametrize("before", [1, 2, len(DELIMITER) + 1, len(DELIMITER) + 2])
def test_a_part_that_begins_where_a_piece_ends_is_looked_at_once(settings, before):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES = 0, 0
    delimiter = b"--" + DELIMITER
    ahead = b"x" * (PIECE_BYTES - before)
    check_parts(ahead + 2 * delimiter, DELIMITER)
    with pytest.raises(TooManyFieldsSent):
        check_parts(ahead + 3 * delimiter, DELIMITER)
    with pytest.raises(MultiPartParserError):
        check_parts(ahead + delimiter + b";" * (MOST_PARAMETERS + 1), DELIMITER)
