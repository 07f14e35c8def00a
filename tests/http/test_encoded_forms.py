"""A long form whose fields are percent-encoded is read as Django reads it, in pieces."""

from io import BytesIO
import random

from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict
import pytest

from copilot_admin.http import encoded_forms
from copilot_admin.http.django_handler import Request
from copilot_admin.http.encoded_forms import read_encoded

SIGNS = (
    "a",
    "%",
    "%4",
    "%41",
    "%E5%B9%B4",
    "%E5",
    "%zz",
    "+",
    "=",
    "&",
    "年",
    "é",
    "%F0%9F%98%80",
    "%00",
)


def forms(number: int, *, seed: int) -> list[bytes]:
    """Bodies of anything."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices(SIGNS, k=draw.randrange(60))) for _ in range(number)]
    return [b"", b"\xff=%41", b"a=\xe5\xb9", *(text.encode() for text in texts)]


@pytest.mark.parametrize("piece", [3, 4, 5, 7, 16, 1000])
def test_it_is_read_as_django_reads_it(piece, monkeypatch):
    monkeypatch.setattr(encoded_forms, "PIECE", piece)
    for body in forms(500, seed=piece):
        assert read_encoded(body) == QueryDict(body, encoding="utf-8"), body


def test_nobody_changes_what_was_read():
    with pytest.raises(AttributeError):
        read_encoded(b"a=1")["b"] = "2"


def test_too_many_fields_are_refused_before_they_are_taken_apart(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    assert read_encoded(b"a&b&c") == QueryDict(b"a&b&c")
    with pytest.raises(TooManyFieldsSent):
        read_encoded(b"a&b&c&d")
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = None
    assert len(read_encoded(b"a&b&c&d")) == 4


def request(body: bytes, kind: bytes = b"application/x-www-form-urlencoded") -> Request:
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/admin/",
        "query_string": b"",
        "headers": [(b"content-type", kind), (b"content-length", str(len(body)).encode())],
    }
    return Request(scope, BytesIO(body))


@pytest.mark.parametrize(("size", "times"), [(10, 0), (encoded_forms.PIECE + 1, 1)])
def test_of_a_request_a_long_one_is_read_so(size, times, monkeypatch):
    """Django's own way is as good for others, and there it stays."""
    read = []
    monkeypatch.setattr(
        "copilot_admin.http.django_handler.read_encoded",
        lambda body: read.append(body) or read_encoded(body),
    )
    body = b"a=%E5%B9%B4&b=" + b"x" * size
    form = request(body)
    assert form.POST.dict() == {"a": "年", "b": "x" * size}
    assert form.body == body
    assert (len(read), list(form.FILES)) == (times, [])


def test_what_has_been_taken_out_of_a_request_is_no_form_of_it():
    form = request(b"a=" + b"x" * 2 * encoded_forms.PIECE)
    form.read(1)
    assert QueryDict() == form.POST


def test_too_many_fields_leave_none_for_who_looks_again(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    form = request(b"a&" * encoded_forms.PIECE)
    with pytest.raises(TooManyFieldsSent):
        _ = form.POST
    assert QueryDict() == form.POST
