"""The list of calls of components, and the page of one."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client as Browser
from django.utils import timezone
import pytest

from copilot_admin.models import CallStatus, ComponentCall
from tests.factories import make_call, make_copilot, make_key

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/componentcall/"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def found(response: Any) -> list[ComponentCall]:
    return list(response.context["cl"].result_list)


def page_of(reviewer: Browser, call: ComponentCall) -> str:
    return reviewer.get(f"{LIST}{call.pk}/change/").content.decode()


def test_a_row_says_what_was_called_by_whom_and_how_it_ended(reviewer):
    make_call(
        key=make_key("Research desk")[0],
        copilot=make_copilot(name="News"),
        status=CallStatus.FAILED,
        ms=1500,
        events=7,
        created_at=NOON,
    )
    page = reviewer.get(LIST).content.decode()
    for text in (
        "calculator@v1",
        "Research desk",
        "News",
        "ca-chip--bad",
        "1.5 s",
        ">7<",
        'datetime="2026-11-20T12:00:00+00:00"',
    ):
        assert text in page, text


@pytest.mark.database
@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("component=calculator", {"new", "old"}),
        ("component=chart_maker", {"chart"}),
        ("component=nothing", set()),
        ("status__exact=failed", {"chart"}),
        ("q=t-old", {"old"}),
        ("q=new", {"new"}),
        ("q=t-", set()),
    ],
)
def test_the_list_is_filtered_by_component_status_and_id(reviewer, query, matches):
    make_call(request_id="new")
    make_call(request_id="old", trace_id="t-old", created_at=NOON - timedelta(days=40))
    make_call(request_id="chart", component="chart_maker", status=CallStatus.FAILED)
    assert {call.request_id for call in found(reviewer.get(f"{LIST}?{query}"))} == matches


@pytest.mark.database
def test_the_list_is_filtered_by_day(reviewer):
    make_call(request_id="now")
    make_call(request_id="then", created_at=timezone.now() - timedelta(days=40))
    today = f"{timezone.now():%Y-%m-%d}"
    for query, ids in (
        (f"since={today}", ["now"]),
        (f"until={today}", ["now", "then"]),
        (f"since={today}&until=2020-01-01", []),
        ("since=soon", []),
    ):
        assert [call.request_id for call in found(reviewer.get(f"{LIST}?{query}"))] == ids


def test_the_page_of_a_call_shows_all_of_it_and_stays_text(reviewer):
    hostile = "<script>alert(1)</script>"
    call = make_call(
        arguments={"expression": hostile},
        usage=[{"name": "small", "total_tokens": 31}],
        error=hostile,
        status="unheard-of",
    )
    page = page_of(reviewer, call)
    assert hostile not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
    for text in ("calculator@v1", "tool_eval", "t-1", "r-1", "12 ms", "31", "unheard-of"):
        assert text in page, text
    assert "_save" not in page
