"""Error responses: JSON for programs, pages for people."""

import errno
import json
import logging
from typing import Any

from django import db
from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.site import site as frame
from copilot_admin.config.roles import Role
from copilot_admin.errors import BodyTooLarge, RequestError, Unavailable, UnknownHost
from copilot_admin.http.errors import bad_request, send_error, server_error
from copilot_admin.models import Copilot
from tests.factories import make_user
from tests.http.asgi_client import Answer, call, scope

LOOK = "copilot_admin/css/components.css"
QUERY = "/v1/copilots/news/query"
ERROR = BodyTooLarge("More than %(max)d MB.", params={"max": 20})


@pytest.fixture
def builder(db: None) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_user(Role.BUILDERS))
    return client


def get_page(client: Client, path: str, status: int) -> str:
    response = client.get(path)
    page = response.content.decode()
    assert (response.status_code, LOOK in page) == (status, True)
    assert not {"<style", "<script>", " style="} & {one for one in page.split() if "<" in one}
    return page


def answer_error(path: str, error: RequestError, **headers: str) -> Answer:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send_error(scope, send, error)

    return call(app, scope(path, headers=headers))


class TestOutsideDjango:
    @pytest.mark.parametrize(
        ("path", "accept"), [(QUERY, "text/html"), ("/agents.json", "*/*"), ("/admin/", "*/*")]
    )
    def test_programs_get_json(self, path, accept):
        answer = answer_error(path, ERROR, Accept=accept)
        body = {"detail": "More than 20 MB.", "code": "body-too-large"}
        assert (answer.status, json.loads(answer.body)) == (413, body)
        assert dict(answer.headers) == {
            "content-type": "application/json",
            "content-length": str(len(answer.body)),
            "cache-control": "no-store",
        }

    def test_people_get_a_page(self):
        answer = answer_error("/admin/", ERROR, Accept="text/html,*/*;q=0.8")
        assert (answer.status, b"More than 20 MB." in answer.body) == (413, True)
        assert answer.header("content-type") == "text/html; charset=utf-8"

    @pytest.mark.parametrize("accept", ["*/*", "text/html"])
    def test_retry_after_says_when_to_try_again(self, accept):
        answer = answer_error("/admin/", Unavailable("Busy.", retry_after=7), Accept=accept)
        assert (answer.status, answer.header("retry-after")) == (503, "7")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (SuspiciousOperation(), 400, "malformed-request"),
        (DisallowedHost(), 400, UnknownHost.code),
        (RequestDataTooBig(), 413, "body-too-large"),
        (TooManyFieldsSent(), 413, "body-too-large"),
        (TooManyFilesSent(), 413, "body-too-large"),
    ],
)
def test_bad_requests_of_programs_have_a_code(rf, error, status, code):
    response = bad_request(rf.get(QUERY, headers={"accept": "text/html"}), error)
    assert (response.status_code, json.loads(response.content)["code"]) == (status, code)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ZeroDivisionError(), 500, "internal-error"),
        (db.OperationalError("password=secret"), 503, "database-unavailable"),
        (db.InterfaceError("gone"), 503, "database-unavailable"),
        (db.InternalError("read-only transaction"), 503, "database-unavailable"),
        (OSError(errno.ENOSPC, "full"), 503, "database-unavailable"),
        (OSError(errno.EIO, "broken"), 500, "internal-error"),
        (Unavailable("Busy.", code="busy"), 503, "busy"),
    ],
)
@pytest.mark.parametrize("path", [QUERY, "/admin/"])
def test_outages_and_faults_have_different_pages(rf, caplog, error, status, code, path):
    try:
        raise error
    except type(error):
        response = server_error(rf.get(path))
    assert (response.status_code, response.get("Retry-After")) == (
        status,
        "5" if status == 503 else None,
    )
    if path == QUERY:
        assert json.loads(response.content)["code"] == code
    assert "secret" not in caplog.text + response.content.decode()


@pytest.mark.parametrize(
    ("error", "status"),
    [(db.OperationalError("gone"), 503), (Unavailable("Busy."), 503), (ZeroDivisionError(), 500)],
)
def test_a_page_that_meets_an_outage_leaves_one_line_without_traceback(
    builder, monkeypatch, caplog, error, status
):
    def fail(request: object) -> None:
        raise error

    monkeypatch.setattr(frame, "build_home", fail)
    get_page(builder, "/admin/", status)
    records = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert [one.exc_info is None for one in records] == [status == 503]


@pytest.mark.parametrize("path", ["/v1/", "/v1/nothing", "/v1/copilots/a/b/c", "/v2/nothing"])
@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND"])
def test_programs_read_in_json_that_a_url_leads_nowhere(path, method):
    response = Client().generic(method, path, headers={"accept": "text/html"})
    assert (response.status_code, response.json()["code"]) == (404, "not-found")
    assert ("message" in response.json()) is path.startswith("/v2/")


def test_pages_explain_what_went_wrong(builder):
    assert "ca-plain" in get_page(builder, "/admin/nowhere/", 404)
    assert "ca-plain" in get_page(Client(), "/nowhere", 404)
    assert "ca-plain" in get_page(builder, reverse("admin:auth_user_changelist"), 403)
    # After a new sign-in the browser opens the URL of the button that was pressed.
    assert "ca-plain" in get_page(builder, reverse("admin:logout"), 405)


def test_an_unknown_host_gets_a_page_and_health_checks_need_none(db, caplog):
    response = Client().get(reverse("admin:login"), headers={"host": "127.0.0.1,evil"})
    assert (response.status_code, b"ca-plain" in response.content) == (400, True)
    (record,) = (one for one in caplog.records if one.name == "django.security.DisallowedHost")
    assert record.exc_info is None
    unknown = {"host": "10.0.0.1"}
    assert Client().get("/copilots.json", headers=unknown).json()["code"] == UnknownHost.code
    assert Client().get("/healthz", headers=unknown).status_code == 200


@pytest.mark.parametrize(
    ("setting", "limit", "form"),
    [
        ("MAX_MEMORY_SIZE", 2048, {"a": "x" * 2048}),
        ("MAX_NUMBER_FIELDS", 1, {"a": "", "b": "", "c": "", "d": ""}),
        ("MAX_NUMBER_FILES", 0, {"a": ContentFile(b"x", "a")}),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_a_form_that_is_too_large_is_rejected_in_words(
    builder, settings, setting, limit, form, accept
):
    setattr(settings, f"DATA_UPLOAD_{setting}", limit)
    for value in form.values():
        if isinstance(value, ContentFile):
            value.seek(0)
    page = reverse("admin:copilot_admin_copilot_add")
    response = builder.post(page, form, headers={"accept": accept})
    assert (response.status_code, b"The form has too much" in response.content) == (413, True)


@pytest.mark.parametrize(
    ("error", "method", "status"),
    [
        (Copilot.DoesNotExist(), "GET", 404),
        (Copilot.DoesNotExist(), "POST", 404),
        (db.DatabaseError("Save with update_fields did not affect any rows."), "POST", 404),
    ],
)
def test_a_row_that_was_deleted_in_the_meantime_is_no_fault(
    builder, monkeypatch, error, method, status
):
    def fail(request: object) -> None:
        raise error

    monkeypatch.setattr(frame, "build_home", fail)
    assert builder.generic(method, "/admin/").status_code == status
