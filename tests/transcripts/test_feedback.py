"""Thumbs land on the right turn, and are seen in the transcript."""

from datetime import timedelta

import pytest

from copilot_admin.models import Conversation, Feedback, Logging
from tests.api.test_query import post
from tests.factories import make_published
from tests.transcripts.store.journaling import Client, ai

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/v1/copilots/news/feedback"
LIST = "/admin/copilot_admin/conversation/"
TAG = "Not factually correct / Hallucinations / Inaccurate"
FEATURES = {"feedback": True}
HOUR = timedelta(hours=1)


def news(**changes):
    return make_published(slug="news", features=FEATURES, **changes)


def client_of(copilot, **options):
    return Client(version=copilot.live, trace_id="chat", **options)


def votes():
    rows = Feedback.objects.order_by("id")
    return [(one.turn_id, one.value, one.tags, one.comment) for one in rows]


@pytest.mark.database
def test_a_judgement_lands_on_the_turn_of_its_chat_with_these_words():
    client = client_of(news())
    first = client.ask("Hi").answer("Rates **rose**.")
    client.ask("Hi", ai("Rates **rose**."), "Why?").answer("Because.")
    judgement = {
        "vote": "thumbs_down",
        "tags": [TAG, TAG, 3],
        "user_comment": "Wrong <b>year</b>.",
        "ai_response": "Rates\n**rose**. <|start_citation_id|>c<|end_citation_id|>",
        "user_prompt": "Hi",
        "trace_id": "",
    }
    assert post(judgement, path=PATH, X_Trace_Id="chat") == (200, {"status": "ok"})
    assert votes() == [(first.accepted.turn_id, -1, [TAG], "Wrong <b>year</b>.")]
    conversation = Conversation.objects.get()
    assert (conversation.n_up, conversation.n_down) == (0, 1)


def test_without_the_words_the_question_and_then_the_newest_turn_is_meant():
    client = client_of(news())
    first = client.ask("Hi").answer("Yes.")
    second = client.ask("Hi", ai("Yes."), "Why?").answer("Because.")
    post({"vote": "thumbs_up", "user_prompt": " Hi "}, path=PATH, X_Trace_Id="chat")
    post({"vote": "thumbs_up", "ai_response": "?"}, path=PATH, X_Trace_Id="chat")
    turns = [turn for turn, *_ in votes()]
    assert turns == [first.accepted.turn_id, second.accepted.turn_id]


@pytest.mark.database
def test_without_a_chat_the_words_find_the_answer():
    copilot = news()
    asked = Client(version=copilot.live).ask("Hi").answer("Rates rose.")
    Client(version=copilot.live).ask("Ho").answer("Rates fell.")
    body = {"vote": "thumbs_up", "ai_response": "Rates rose."}
    assert post(body, path=PATH)[0] == 200
    assert post(body, path=PATH, X_Trace_Id="another-chat")[0] == 200
    assert [turn for turn, *_ in votes()] == [asked.accepted.turn_id]


def test_of_a_judgement_so_much_is_kept():
    client_of(news()).ask("Hi").answer("Yes.")
    tags = ["x" * 201, "x" * 202, " a ", "", "a", *(str(number) for number in range(30))]
    comment = "https://files.test/a?X-Amz-Signature=canary " + "c" * 5000
    body = {"vote": "thumbs_up", "tags": tags, "user_comment": comment}
    assert post(body, path=PATH, X_Trace_Id="chat")[0] == 200
    ((_, value, kept, words),) = votes()
    assert (value, kept) == (1, ["x" * 200, "a", *(str(number) for number in range(18))])
    assert (len(words), words[:25]) == (4000, "https://files.test/a cccc")


@pytest.mark.parametrize("body", [{"ai_response": "Never said."}, {}])
def test_an_answer_that_nobody_knows_cannot_be_judged(body):
    Client(version=news().live).ask("Hi").answer("Yes.")
    status, told = post({"vote": "thumbs_up", **body}, path=PATH)
    assert status == 404
    assert told["detail"] == "No answer like this is known, so there is nothing to judge."


def test_nobody_judges_the_answers_of_another_caller():
    copilot = news()
    Client(version=copilot.live, principal="key:99", trace_id="chat").ask("Hi").answer("Yes.")
    body = {"vote": "thumbs_up", "ai_response": "Yes."}
    assert post(body, path=PATH, X_Trace_Id="chat")[0] == 404
    assert votes() == []


@pytest.mark.parametrize(
    ("logging", "kept"),
    [(Logging.METADATA, [(1, [TAG], "")]), (Logging.NOTHING, [])],
)
def test_words_are_kept_only_where_content_is(logging, kept):
    copilot = news(logging=logging)
    client_of(copilot, logging=logging).ask("Hi").answer("Yes.")
    body = {"vote": "thumbs_up", "tags": [TAG], "user_comment": "Good.", "ai_response": "Yes."}
    assert post(body, path=PATH, X_Trace_Id="chat")[0] == 200
    assert [row[1:] for row in votes()] == kept
