"""The pages for what is refused, missing or broken, in the look of the admin."""

import asyncio
import errno
import gc
import json
import logging
from weakref import ref

from django import db
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.base import ContentFile
from django.test import Client, RequestFactory
from django.urls import reverse
import pytest

from copilot_admin.admin.frame import site as frame
from copilot_admin.config.logs import OneLineFormatter, RefusalIsNoError
from copilot_admin.config.roles import Role
from copilot_admin.errors import Unavailable
from copilot_admin.http.error_pages import bad_request, server_error
from tests.factories import make_user

LOOK = "copilot_admin/css/base.css"


@pytest.fixture
def builder(db: None) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_user(Role.BUILDERS))
    return client


def words(client: Client, path: str, status: int) -> str:
    response = client.get(path)
    assert response.status_code == status
    page = response.content.decode()
    assert LOOK in page
    assert "<style" not in page
    assert "<script>" not in page
    assert " style=" not in page
    return page


def test_an_address_that_takes_forms_only_says_so_to_who_opens_it(builder):
    """As whoever had to log in again after he had pressed a button."""
    assert "This address shows no page" in words(builder, reverse("admin:logout"), 405)
    assert builder.get(reverse("admin:logout")).headers["Allow"] == "POST"


def test_programs_are_told_in_their_own_words_that_a_method_does_nothing(client):
    refused = client.put("/copilots.json")
    assert (refused.status_code, refused.headers["Content-Type"]) == (
        405,
        "application/json; charset=utf-8",
    )


def test_a_page_that_is_not_for_this_role_says_who_can_help(builder):
    assert "You may not do this" in words(builder, reverse("admin:auth_user_changelist"), 403)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/admin/auth/user/add/", 403), ("/admin/copilot_admin/copilot/7/now/", 404)],
)
def test_who_sent_a_form_there_is_told_where_his_words_are(builder, path, status):
    told = "Go back one page in your browser: what you typed is still in the form"
    assert told not in words(builder, path, status)
    sent = builder.post(path, {"name": "Typed"})
    assert (sent.status_code, told in sent.content.decode()) == (status, True)


def test_an_address_that_leads_nowhere_says_so(builder):
    assert "There is nothing here" in words(builder, "/admin/nowhere/", 404)
    assert "There is nothing here" in words(Client(), "/nowhere", 404)


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (db.OperationalError("gone"), 503, "Not available now"),
        (db.InterfaceError("gone"), 503, "Not available now"),
        (
            db.InternalError("cannot execute INSERT in a read-only transaction"),
            503,
            "Not available",
        ),
        (Unavailable("Busy."), 503, "Not available now"),
        (OSError(errno.ENOSPC, "full"), 503, "it is full, or can only be read"),
        (OSError(errno.EROFS, "read-only"), 503, "it is full, or can only be read"),
        (OSError(errno.EIO, "broken"), 500, "Something broke"),
        (ZeroDivisionError(), 500, "Something broke"),
    ],
)
def test_what_works_again_in_a_moment_is_told_apart_from_a_fault(
    builder, monkeypatch, error, status, sentence
):
    def broken(request: object) -> None:
        raise error

    monkeypatch.setattr(frame, "start_page", broken)
    assert sentence in words(builder, "/admin/", status)
    retry = builder.get("/admin/").headers.get("Retry-After")
    assert retry == ("5" if status == 503 else None)


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (db.OperationalError("gone"), 503, "5"),
        (db.InterfaceError("gone"), 503, "5"),
        (db.InternalError("cannot execute INSERT in a read-only transaction"), 503, "5"),
        (OSError(errno.ENOSPC, "full"), 503, "5"),
        (ZeroDivisionError(), 500, None),
    ],
)
def test_what_breaks_outside_of_a_view_is_told_apart_too(error, status, retry):
    try:
        raise error
    except type(error):
        response = server_error(RequestFactory().get("/admin/"))
    assert (response.status_code, response.headers.get("Retry-After")) == (status, retry)


def test_a_form_without_its_token_says_what_to_do(db):
    client = Client(enforce_csrf_checks=True)
    response = client.post(reverse("admin:login"), {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "This form was too old" in response.content.decode()


def test_a_refusal_is_one_line_without_a_traceback_and_a_fault_keeps_it(builder, caplog):
    refusal, fault = (
        logging.LogRecord("django.security", logging.ERROR, "", 1, "said", (), info)
        for info in [(ValueError, ValueError("why"), None)] * 2
    )
    refusal.status_code, fault.status_code = 403, 500
    for record in (refusal, fault):
        assert RefusalIsNoError().filter(record)
    formatter = OneLineFormatter("%(levelname)s %(message)s")
    assert formatter.format(refusal) == "WARNING said"
    assert formatter.format(fault).startswith("ERROR said")
    assert formatter.format(fault).endswith("ValueError: why")
    builder.get(reverse("admin:auth_user_changelist"))
    (record,) = [one for one in caplog.records if one.name == "django.request"]
    assert (record.getMessage(), record.exc_info) == (
        "Forbidden (Permission denied): /admin/auth/user/",
        None,
    )


def test_a_host_that_is_none_of_ours_gets_a_page_and_no_traceback(caplog):
    response = Client().get(reverse("admin:login"), headers={"host": "127.0.0.1,evil"})
    assert response.status_code == 400
    assert "The request was not understood" in response.content.decode()
    (record,) = [one for one in caplog.records if one.name == "django.security.DisallowedHost"]
    assert record.exc_info is None


@pytest.mark.parametrize(
    ("setting", "most", "form", "sentence"),
    [
        ("MAX_MEMORY_SIZE", 2048, {"a": "x" * 2048}, "longer than the 2 KB that are read of one"),
        ("MAX_NUMBER_FIELDS", 1, {"a": "", "b": "", "c": "", "d": ""}, "more than the 1 fields"),
        ("MAX_NUMBER_FILES", 0, {"a": ContentFile(b"x", "a")}, "more than the 0 files"),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_a_form_that_is_too_large_is_told_what_is_too_much(
    builder, settings, caplog, setting, most, form, sentence, accept
):
    setattr(settings, f"DATA_UPLOAD_{setting}", most)
    for value in form.values():
        if isinstance(value, ContentFile):
            value.seek(0)
    page = reverse("admin:copilot_admin_copilot_add")
    response = builder.post(page, form, headers={"accept": accept})
    assert response.status_code == 413
    if accept == "*/*":
        assert response.json()["code"] == "body-too-large"
        assert sentence in response.json()["detail"]
    else:
        assert sentence in response.content.decode()
        assert "This was not accepted" in response.content.decode()
    told = [(record.levelname, record.exc_info) for record in caplog.records]
    assert told == [("WARNING", None)]


@pytest.mark.parametrize("path", ["/v1/", "/v1/nothing", "/v1/copilots/a/b/c", "/v2/nothing"])
@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND"])
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_programs_are_told_in_json_that_an_address_leads_nowhere(path, method, accept):
    response = Client().generic(method, path, headers={"accept": accept})
    said = response.json()
    assert (response.status_code, said["code"]) == (404, "not-found")
    sentence = said["message"] if path.startswith("/v2/") else said["detail"]
    assert sentence.startswith("There is nothing at this address.")


def test_programs_are_told_in_json_what_is_not_understood(rf):
    request = rf.get("/v1/copilots/a/query", headers={"accept": "text/html"})
    response = bad_request(request, SuspiciousOperation())
    assert (response.status_code, json.loads(response.content)["code"]) == (
        400,
        "malformed-request",
    )


@pytest.mark.parametrize(
    ("error", "status", "code", "headers"),
    [
        (ZeroDivisionError(), 500, "internal-error", {None}),
        (db.OperationalError("gone"), 503, "unavailable", {"5"}),
    ],
)
def test_programs_are_told_in_json_what_broke(rf, error, status, code, headers):
    request = rf.get("/v1/copilots/a/query", headers={"accept": "text/html"})
    try:
        raise error
    except type(error):
        response = server_error(request)
    assert (response.status_code, json.loads(response.content)["code"]) == (status, code)
    assert {response.headers.get("Retry-After")} == headers


def test_who_waits_for_the_answer_to_a_refused_form_gets_it(rf):
    """He stands in what the error came out of."""
    errors: list[RequestDataTooBig] = []

    async def asked() -> str:
        try:
            raise RequestDataTooBig
        except RequestDataTooBig as error:
            errors.append(error)
        await asyncio.sleep(0)
        return "answered"

    waiting = asked()
    waiting.send(None)
    bad_request(rf.post("/admin/"), errors[0])
    with pytest.raises(StopIteration, match="answered"):
        waiting.send(None)


def test_what_was_sent_goes_with_the_refusal_and_waits_for_no_collector(rf):
    class Form(list[str]):
        """Says when it is gone."""

    held: list[ref[Form]] = []

    def read() -> None:
        form = Form(["x"])
        held.append(ref(form))
        raise RequestDataTooBig

    gc.disable()
    try:
        error: RequestDataTooBig | None = None
        try:
            read()
        except RequestDataTooBig as raised:
            error = raised
        assert error is not None
        assert held[0]() is not None
        assert bad_request(rf.post("/admin/"), error).status_code == 413
        assert held[0]() is None
    finally:
        gc.enable()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "form",
    [
        b'--X\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!!not base64\r\n--X--\r\n",
        b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' * 8000 + b"--X--\r\n",
    ],
    ids=["unreadable", "too many fields"],
)
def test_a_form_that_cannot_be_read_at_an_address_that_leads_nowhere_is_not_found(form):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.get("/admin/login/")  # the page looks for the token of who has a cookie of it
    response = client.post(
        "/admin/nowhere/", data=form, content_type="multipart/form-data; boundary=X"
    )
    assert response.status_code == 404
