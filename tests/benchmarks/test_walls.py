"""The walls: what is promised is judged as it says, and a class is really sent."""

from collections import Counter
import json
from random import Random
import re

from django.conf import settings
from django.test import RequestFactory
from django.utils.datastructures import MultiValueDict
import pytest

from benchmarks.servers import POSTGRES, SQLITE, Deployment
from benchmarks.walls.__main__ import send, tell
from benchmarks.walls.admin_pages import MULTIPART, as_multipart, multipart_type
from benchmarks.walls.arena import Arena, human
from benchmarks.walls.bystander import Sample, Seen
from benchmarks.walls.cases import WALLS, forms, heavy, tools
from benchmarks.walls.cases.sockets import BINARY, TEXT, frame
from benchmarks.walls.hostile_html import REMOTE, faults_in
from benchmarks.walls.misbehaviour import WAYS, Order
from benchmarks.walls.noise import Look, Noise
from benchmarks.walls.report import Bounds, Row, Waits, broken, cells, seen_problems, waits
from benchmarks.walls.sending import Reply
from benchmarks.walls.siege import Plan
from copilot_admin.runs import stops
from copilot_admin.settings import BASE_DIR

OPERATIONS = BASE_DIR / "docs" / "operations.md"
KEPT = Row(
    name="files",
    sent=3,
    statuses=Counter({200: 2, 400: 1}),
    alone=Waits(0.001, 0.002, 0.003),
    polls=Waits(0.001, 0.6, 0.7, own=0.4),
    gaps=Waits(0.04, 0.05, 0.06, own=0.05),
    largest=100 * 2**20,
    together=200 * 2**20,
    problems=(),
)


def test_every_class_has_a_name_of_its_own_and_says_what_it_needs():
    small, large = Deployment(SQLITE, 1), Deployment(POSTGRES, 2)
    assert [wall.name for wall in WALLS] == [
        *("files", "bodies", "histories", "models", "clients", "journal", "database", "size"),
        *("threading", "people", "restart", "texts", "html"),
        *("unfinished", "bursts", "readers", "forms", "heavy", "lists", "tools", "sockets"),
        *("imports", "collectors"),
    ]
    away = [wall.name for wall in WALLS if not wall.fits(small)]
    assert away == ["database", "restart", "collectors"]
    assert all(wall.fits(large) for wall in WALLS)


def test_what_was_kept_is_said_in_a_line():
    assert broken(KEPT, Bounds()) == []
    assert cells(KEPT, Bounds()) == (
        *("files", "3", "200:2 400:1", "1/2/3", "1/600/700", "400", "40/50/60", "50"),
        *("100 MB", "200 MB", "yes"),
    )


@pytest.mark.parametrize(
    ("bounds", "fault"),
    [
        (Bounds(seconds=0.4), "the p99 of the bystander's polls is 400 ms"),
        (Bounds(bytes=100 * 2**20), "a process of the server took 100 MB"),
    ],
    ids=["time", "memory"],
)
def test_a_bound_that_is_reached_is_a_fault(bounds, fault):
    assert broken(KEPT, bounds) == [fault]
    assert cells(KEPT, bounds)[-1] == "NO"


def test_only_what_was_waited_meanwhile_counts():
    samples = [Sample(float(at), at / 100, own=at / 200) for at in range(1, 101)]
    assert waits(samples, since=1, until=101) == Waits(0.5, 0.99, 1.0, own=0.495)
    assert waits(samples, since=10, until=11) == Waits(0.1, 0.1, 0.1, own=0.05)
    assert waits(samples, since=200, until=300) == Waits(0.0, 0.0, 0.0)


def test_a_bystander_who_is_refused_or_hears_no_end_has_noticed():
    refused = Seen(ended_well=1, refused=2)
    assert seen_problems(refused, may_be_refused=True) == []
    assert seen_problems(refused, may_be_refused=False) == ["the bystander was refused 2 times"]
    assert seen_problems(Seen(), may_be_refused=True) == ["no answer to the bystander ended well"]


@pytest.mark.parametrize(
    ("ran", "ready", "own"),
    [(0.1, 0.0, 1.0), (0.1, 0.7, 0.3), (0.6, 0.7, 0.6), (0.1, 5.0, 0.1)],
    ids=["nobody else", "others meanwhile", "it ran itself", "many threads were ready"],
)
def test_what_others_took_of_a_wait_is_not_the_servers(ran, ready, own):
    looks = [Look(10.0, {1: 5.0}, 2.0), Look(11.0, {1: 5.0 + ran}, 2.0 + ready)]
    noise = Noise(lambda: (1,), looks=looks)
    assert noise.own(10.0, 1.0) == pytest.approx(own)


def test_the_last_order_counts_in_whatever_a_request_has():
    orders = [Order("cut", 3, 4), Order("html", 10, 20)]
    body = str([human(f"Please {order}") for order in orders]).encode()
    assert Order.find(body) == orders[1]
    assert Order.find(b"Hello") is None
    assert {order.way for order in orders} <= set(WAYS)


def test_an_error_of_ours_is_a_fault_of_its_class():
    arena = Arena(None, None, strangers=0, key="", random=Random(1), cases=1)
    first = b"POST /v1/copilots/wild/query HTTP/1.1"
    fine = Reply(200, {}, b"Done.", whole=True, waited=0)
    crashed = Reply(200, {"x-completion-id": "a-b"}, stops.CRASHED.encode(), whole=True, waited=0)
    arena.saw(fine, of=first)
    assert arena.problems == []
    arena.saw(crashed, of=first)
    assert arena.problems == ["the run ab crashed"]


def test_every_class_has_its_row_in_the_table_for_operators():
    rows = re.findall(r"^\| (\w+)[^|]*\|", OPERATIONS.read_text(), re.MULTILINE)
    assert {wall.name for wall in WALLS} - set(rows) == set()


@pytest.mark.parametrize(
    "html",
    [
        f'<img src="{REMOTE}">',
        f"<p style='background:url({REMOTE})'>x</p>",
        "<p onclick='alert(1)'>x</p>",
        "<a href='java\nscript:alert(1)'>x</a>",
        "<script>alert(1)</script>",
    ],
)
def test_what_would_load_or_run_is_found(html):
    assert len(faults_in(f"<p>A card</p>{html}")) == 1
    assert faults_in('<p style="color: red">4.5 %</p><img src="data:image/png;base64,AA">') == []


def test_a_drawn_form_is_the_one_that_a_browser_would_send():
    body = as_multipart({"name": 'a"\u5e74', "tags": ["1", "2"]}, files={"image": b"\x00\r\n--x"})
    request = RequestFactory().generic("POST", "/", body, content_type=MULTIPART["Content-Type"])
    assert MultiValueDict({"name": ['a"\u5e74'], "tags": ["1", "2"]}) == request.POST
    assert request.FILES["image"].read() == b"\x00\r\n--x"


@pytest.mark.parametrize("seed", range(20))
def test_a_drawn_boundary_is_one_that_is_read(seed):
    boundary = forms.drawn_boundary(Random(seed))
    body, kind = (
        as_multipart({"name": "x"}, boundary=boundary),
        multipart_type(boundary)["Content-Type"],
    )
    request = RequestFactory().generic("POST", "/", body, content_type=kind)
    assert dict(request.POST) == {"name": ["x"]}
    size = len(forms.drawn_delimiters(Random(seed), boundary))
    assert 50_000 < size < settings.MAX_BODY_BYTES * 4


def test_drawn_frames_are_those_of_a_websocket():
    assert frame(TEXT, b"Hello") == b"\x81\x85" + bytes(4) + b"Hello"
    assert frame(BINARY, b"x" * 300)[:4] == b"\x82\xfe\x01\x2c"
    assert frame(BINARY, b"", flags=0, size=2**40)[:10] == b"\x02\xff" + (2**40).to_bytes(8)


@pytest.mark.parametrize("seed", range(3))
def test_the_heaviest_questions_are_as_large_as_bodies_may_be(seed):
    size = len(heavy.drawn_question(Random(seed)))
    assert heavy.LIMIT // 2 < size < settings.MAX_BODY_BYTES


@pytest.mark.parametrize("seed", range(8))
def test_the_deepest_schema_of_a_tool_can_be_written(seed):
    assert json.dumps({"tools": [{"input_schema": tools.nested(Random(seed), tools.DEEPEST)}]})


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        *("bodies", "clients", "models", "texts", "unfinished", "bursts", "readers", "forms"),
        *("lists", "tools", "sockets", "imports"),
    ],
)
def test_nobody_notices_a_few_cases_of_a_class(name):
    (wall,) = (wall for wall in WALLS if wall.name == name)
    (row,) = send([wall], Plan(seed=7, cases=2, alone=0.5), Deployment(SQLITE, 1))
    assert (row.name, row.sent > 0, row.problems) == (name, True, ())
    assert tell([row], Bounds(seconds=60), skipped=[]) == 0
