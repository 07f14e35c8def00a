"""The formats of exports: what was said, whatever it is, and nothing that runs or is fetched."""

import csv
from datetime import UTC, datetime
from html.parser import HTMLParser
import io
from itertools import product
import json
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from markdown_it import MarkdownIt
import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Feedback,
    FeedbackSource,
    Logging,
    Mark,
    Rating,
    Turn,
    Verdict,
)
from copilot_admin.transcripts.exports.formats import BYTE_ORDER_MARK, FORMATS
from tests.admin.transcripts.transcript_rows import call, echo, results, rich_conversation
from tests.factories import make_version
from tests.transcripts.exports.exporting import said_by
from tests.transcripts.store.journaling import Client, ai, call_echo, call_event, human

ABOUT = (datetime(2026, 11, 22, 12, 0, tzinfo=UTC), "Copilot: <b>desk</b>")
HOSTILE = (
    "<script>alert(1)</script>",
    "</pre></article><img src=https://evil.example/x onerror=alert(1)>",
    '=HYPERLINK("https://evil.example")',
    "```\n![x](https://evil.example/p.png)\n````",
    "</style><link rel=stylesheet href=//evil.example>\u2028next",
    "متن فارسی",
)
pytestmark = pytest.mark.django_db


def rows_of(text: str) -> list[dict[str, str]]:
    head = FORMATS["csv"].begin(*ABOUT).removeprefix(BYTE_ORDER_MARK)
    return list(csv.DictReader(io.StringIO(head + text, newline="")))


def lines_of(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]


def test_a_row_of_a_spreadsheet_says_all_of_a_question():
    user = AskingUser(id="u-1", email="ada@b.example", name="Ada")
    client = Client(trace_id="t-1", principal="key:7", user=user)
    asked = client.ask("=2+2").answer('Four,\n"exactly".')
    turn = Turn.objects.get()
    person = User.objects.create(username="ada")
    for source, value, tags, comment in (
        (FeedbackSource.REVIEWER, 1, [], ""),
        (FeedbackSource.END_USER, -1, ["Slow"], "-late"),
    ):
        Feedback.objects.create(turn=turn, value=value, tags=tags, comment=comment, source=source)
    verdict = Verdict.objects.create(
        conversation=asked.conversation, turn=turn, author=person, rating=Rating.BAD, comment="No."
    )
    label = Criterion.objects.create(name="wrong number")
    score = Criterion.objects.create(name="tone", kind=CriterionKind.SCORE)
    Mark.objects.create(verdict=verdict, criterion=label, value=1)
    Mark.objects.create(verdict=verdict, criterion=score, value=4)
    (row,) = rows_of(said_by("csv", asked.conversation))
    assert list(row.values()) == [
        str(asked.conversation.pk), str(turn.pk), "", "1", "t-1", "key:7", "u-1", "ada@b.example",
        "2026-11-20T12:00:01+00:00", client.version.copilot.slug, "1", "Provider", "small-1", "done",
        "completed", "", "", "1", "'=2+2", 'Four,\n"exactly".', "", "1", "1", "Slow", "'-late", "bad",
        "wrong number; tone: 4", "No.", "", "", "new", "10", "0", "5", "0", "", "unknown", "300", "900",
    ]  # fmt: skip


def test_a_line_is_a_chat_with_its_calls_and_what_they_gave():
    client = Client(trace_id="t-1")
    asked_for = call(symbol="AAPL")
    client.ask("Prices?").answer("Let me look. ", asked_for)
    last = client.ask("Prices?", echo(asked_for), results(asked_for, "42")).answer("They are 42.")
    (line,) = lines_of(said_by("jsonl", last.conversation, with_data=True))
    user, calling, given, answer = line["messages"]
    assert user == {"role": "user", "content": "Prices?"}
    assert calling["content"] == "Let me look. "
    (tool,) = calling["tool_calls"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "get_widget_data")
    assert json.loads(tool["function"]["arguments"])["data_sources"][0]["id"] == "prices"
    assert (given["role"], given["tool_call_id"]) == ("tool", tool["id"])
    assert "42" in given["content"]
    assert answer == {"role": "assistant", "content": "They are 42."}
    assert line["metadata"]["content_kept"] is True
    turn = line["metadata"]["turns"][0]
    assert (turn["outcome"], turn["cost_usd"], turn["cost_is"]) == ("completed", None, "unknown")
    (short,) = lines_of(said_by("jsonl", last.conversation))
    assert short["messages"][2]["content"] == "[not exported: data was left out]"


def test_texts_that_are_not_stored_are_reported_and_not_invented():
    client = Client(logging=Logging.METADATA, trace_id="t-1")
    conversation = client.ask("Secret?").answer("Hush.").conversation
    for name in ("csv", "md", "html"):
        text = said_by(name, conversation, with_data=True)
        assert "not kept: the copilot" in text.replace("&#x27;", "'")
        assert "Secret" not in text
    (line,) = lines_of(said_by("jsonl", conversation))
    assert (line["messages"], line["metadata"]["content_kept"]) == ([], False)


def test_everything_that_a_transcript_can_hold_is_written():
    conversation = rich_conversation()
    for name, with_data in product(("csv", "jsonl", "md", "html"), (True, False)):
        text = said_by(name, conversation, with_data=with_data, with_prompts=True)
        assert "Microsoft stayed flat, on second thought." in text, name
        assert "ماذا عن أرامكو؟" in text, name
        assert ("200.5" in text) is (with_data and name != "csv"), name  # row 20 of a table


class Tags(HTMLParser):
    """Which elements and attributes a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(f"{tag} {name}" for name, _ in attrs)}

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_conversation():
    client = Client(trace_id=f"t-{uuid4()}", principal="key:<i>")
    said: list[Any] = []
    for text in HOSTILE:
        said.append(human(text))
        asked = client.ask(*said).answer(text)
        said.append(ai(text))
    conversation = asked.conversation
    conversation.title = HOSTILE[1]
    return conversation


def test_a_page_runs_nothing_and_fetches_nothing():
    page = FORMATS["html"]
    text = page.begin(*ABOUT) + said_by("html", hostile_conversation()) + page.end
    tags = Tags()
    tags.feed(text)
    names = {one for one in tags.found if " " not in one}
    assert names == {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4"),
        *("p", "section", "article", "pre"),
    }
    attributes = {one.split()[1] for one in tags.found if " " in one}
    assert attributes == {"lang", "charset", "http-equiv", "content", "name", "class", "id", "dir"}
    assert "default-src 'none'" in text
    drawn = Tags()
    drawn.feed(MarkdownIt("commonmark").render(said_by("md", hostile_conversation())))
    names = {one for one in drawn.found if " " not in one}
    assert names <= {"h2", "h3", "p", "strong", "pre", "code"}
    for one in HOSTILE:
        assert one in tags.text
        assert one in drawn.text


def test_each_path_through_a_conversation_is_one_line_for_every_reader():
    client = Client(trace_id="t-1")
    client.ask("A?").answer("a\u2028")
    client.ask("A?", ai("a\u2028"), "B?").answer("b")
    last = client.ask("A?", ai("a\u2028"), "C?").answer("c")
    text = said_by("jsonl", last.conversation)
    assert len(text.splitlines()) == 2
    assert [[one["content"] for one in line["messages"]] for line in lines_of(text)] == [
        ["A?", "a\u2028", "B?", "b"],
        ["A?", "a\u2028", "C?", "c"],
    ]


def test_a_call_that_nothing_came_back_for_is_followed_by_that():
    """Else fine-tuning refuses the chat; at the end it stands as it is: that is what is learnt."""
    client = Client(version=make_version(), trace_id="t")
    client.ask("Price?").answer("", call_event())
    (line,) = said_by("jsonl", Conversation.objects.get()).splitlines()
    assert [one["role"] for one in json.loads(line)["messages"]] == ["user", "assistant"]
    client.ask("Price?", call_echo(), "Never mind?").answer("Fine.")
    (line,) = said_by("jsonl", Conversation.objects.get()).splitlines()
    messages = json.loads(line)["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert messages[2] == {
        "role": "tool",
        "tool_call_id": messages[1]["tool_calls"][0]["id"],
        "content": "[nothing came back for this call]",
    }
