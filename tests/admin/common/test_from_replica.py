"""A page is read from the replica, and from the primary where that knows better."""

from django import db
from django.http import Http404, HttpResponse
from django.template import engines
from django.template.response import TemplateResponse
from django.test import RequestFactory
from psycopg.errors import QueryCanceled
import pytest

from copilot_admin.admin.common import from_replica as module
from copilot_admin.admin.common.from_replica import AskPrimary, from_replica
from copilot_admin.http.fresh_pages import COOKIE
from copilot_admin.storage.replica import is_read_from_replica

GET = RequestFactory().get("/")


class Here:
    """A replica that may be asked, and remembers why it is left alone."""

    def __init__(self) -> None:
        self.left: list[str] = []

    def may_be_asked(self) -> bool:
        return True

    def leave_alone(self, why: str) -> None:
        self.left.append(why)


@pytest.fixture
def replica(monkeypatch) -> Here:
    here = Here()
    monkeypatch.setattr(module, "REPLICA", here)
    return here


def asked(request=GET, failing: Exception | None = None) -> list[str]:
    """Where a view was answered from, one after the other."""
    places: list[str] = []

    @from_replica
    def view(self: object, request: object) -> HttpResponse:
        places.append("replica" if is_read_from_replica() else "primary")
        if is_read_from_replica() and failing:
            raise failing
        return HttpResponse()

    assert view(None, request).status_code == 200
    return places


def test_a_page_is_read_from_the_replica(replica):
    assert asked() == ["replica"]


def test_without_one_it_is_read_from_the_primary():
    assert asked() == ["primary"]


@pytest.mark.parametrize("failing", [AskPrimary(), Http404()], ids=["recent", "unknown"])
def test_what_the_replica_may_not_know_yet_is_asked_of_the_primary(replica, failing):
    assert (asked(failing=failing), replica.left) == (["replica", "primary"], [])


def test_one_that_breaks_is_left_alone_and_the_primary_asked(replica):
    failing = db.OperationalError("terminating connection due to conflict with recovery")
    assert asked(failing=failing) == ["replica", "primary"]
    assert replica.left == ["OperationalError"]


def test_what_takes_too_long_is_not_tried_twice(replica):
    failing = db.OperationalError("statement timeout")
    failing.__cause__ = QueryCanceled()
    with pytest.raises(db.OperationalError):
        asked(failing=failing)
    assert replica.left == []


def test_a_mistake_of_ours_is_not_hidden(replica):
    with pytest.raises(db.ProgrammingError):
        asked(failing=db.ProgrammingError("no such column"))


def test_whoever_changes_something_reads_the_primary_for_a_while(replica):
    after = RequestFactory().get("/")
    after.COOKIES[COOKIE] = "1"
    assert [asked(RequestFactory().post("/")), asked(after)] == [["primary"]] * 2


def test_a_template_is_rendered_while_the_replica_is_read(replica):
    places = []

    class Rows:
        def __str__(self) -> str:
            places.append(is_read_from_replica())
            return "row"

    template = engines["django"].from_string("{{ rows }}")

    @from_replica
    def view(self: object, request: object) -> TemplateResponse:
        return TemplateResponse(request, template, {"rows": Rows()})

    assert (view(None, GET).content, places) == (b"row", [True])
