"""Chats that begin with the same question, told apart by their answers; no trace id helps."""

from collections.abc import Callable
import itertools
from pathlib import Path
import re

from markdown_it import MarkdownIt
import pytest

from copilot_admin.models import Conversation, Node
from copilot_admin.transcripts.matching import finding, ranking
from copilot_admin.transcripts.matching.similarity import COMPARED
from tests.transcripts.store.journaling import Asked, Client, ai

pytestmark = pytest.mark.django_db
PROSE = (
    Path(__file__).parents[3] / "docs/adr/0018-deployment-upgrade-and-backup.md"
)  # an answer about other things
QUESTION = "What moved the market today?"
ANSWERS = [
    "**Oil** fell by three percent after the [meeting](https://a.test) in Vienna.\n\n- Brent: 71",
    "The *central bank* kept its rate, and shares of lenders rose in the afternoon.\n\n1. Up",
    "A harvest report sent **wheat** to its highest price since spring.[1]\n\n| a | b |",
    "Chip makers lost most: an export rule was announced before the opening.\n\n> Quote",
    "Little did: a holiday kept most traders away and volumes were thin.\n\n`done`",
    "Gold reached a record as the currency weakened against all others.\n\n# End",
]
RENDERED: dict[str, Callable[[str], str]] = {
    "markup gone": lambda text: re.sub(r"[*`#>|\[\]]|\(https[^)]*\)", "", text),
    "laid out anew": lambda text: text.replace("\n\n", "\n\n\n\n").replace(" ", "  ") + " .",
    "cut": lambda text: text[:40],
    "citation gone": lambda text: text.replace("[1]", "").replace("Brent: 71", ""),
}
MARKDOWN = MarkdownIt().enable("table")
RENDERED["HTML"] = MARKDOWN.render
renderings = pytest.mark.parametrize("render", RENDERED.values(), ids=RENDERED)


def chats(count: int) -> tuple[Client, list[Asked]]:
    client = Client()
    return client, [client.ask(QUESTION).answer(text) for text in ANSWERS[:count]]


@renderings
@pytest.mark.parametrize("count", [2, 4, 5, 6])
def test_each_of_many_chats_is_found_again(count, render):
    client, asked = chats(count)
    for chat, text in zip(asked, ANSWERS, strict=False):
        again = client.ask(QUESTION, ai(render(text)), "Why?")
        assert again.conversation == chat.conversation
    assert Conversation.objects.count() == count


def test_chats_are_found_again_by_all_their_answers():
    client, same = Client(), "It depends on what you look at, as always on such days."
    histories = []
    for text in ANSWERS:
        client.ask(QUESTION).answer(same)
        second = client.ask(QUESTION, ai(same), "And in detail?").answer(text)
        histories.append((second.conversation, text))
    for conversation, text in histories:
        told = (QUESTION, ai("*" + same), "And in detail?", ai(RENDERED["markup gone"](text)))
        assert client.ask(*told, "Why?").conversation == conversation


def test_chats_that_share_words_are_told_apart_by_what_comes_later():
    client = Client()
    first = client.ask("Hi").answer("Hello")
    second = client.ask("Hi").answer("Hello")
    client.ask("Hi", ai("Hello"), "News?").answer(ANSWERS[0])
    client.ask("Hi", ai("Hello"), "News?").answer(ANSWERS[1])
    for text in ANSWERS[:2]:
        told = ("Hi", ai("Hello"), "News?", ai(RENDERED["markup gone"](text)), "Why?")
        place = client.ask(*told).conversation
        assert place.nodes.filter(text=text).exists()
        assert place in (first.conversation, second.conversation)


def test_where_two_are_alike_none_is_joined():
    client = Client()
    for number in (71, 72):
        client.ask(QUESTION).answer(f"The price of oil fell to {number} after the meeting today.")
    before = list(Node.objects.order_by("id").values_list("conversation_id", flat=True))
    asked = client.ask(QUESTION, ai("The price of oil fell to …"), "Why?")
    assert Conversation.objects.count() == 3
    assert list(Node.objects.order_by("id").values_list("conversation_id", flat=True)) == [
        *before,
        *[asked.conversation.pk] * 3,
    ]


def test_a_number_tells_two_answers_apart_where_only_markup_went():
    client = Client()
    asked = [
        client.ask(QUESTION).answer(f"The price of **oil** fell to {number} after the meeting.")
        for number in (71, 72)
    ]
    for chat, number in zip(asked, (71, 72), strict=True):
        told = ai(f"The price of oil fell to {number} after the meeting.")
        assert client.ask(QUESTION, told, "Why?").conversation == chat.conversation


TEMPLATE = "The price of **oil** fell to {0} after the meeting. Shares of Acme stood at {1} in the evening, and rates at 4."


@pytest.mark.parametrize(
    ("told", "is_joined"),
    [
        (TEMPLATE.format(71, "1,204.5")[:60], True),
        (TEMPLATE.format(71, "1,204.5")[:-30].replace("*", ""), True),
        (TEMPLATE.format(71, "1,204.5")[:90] + "…", True),  # within the number
        (TEMPLATE.format(71, "1204.5").replace("*", "") + "\n\nSources: 1, 2", True),
        (TEMPLATE.format(72, "1,204.5")[:60], False),
        (TEMPLATE.format(711, "1,204.5")[:60], False),
        (TEMPLATE.format(71, "1,304.5")[:-30].replace("*", ""), False),
    ],
)
def test_another_number_in_the_same_words_is_another_chat_also_where_it_is_the_only_one(
    told, is_joined
):
    """Beginnings of answers that another copilot made in the same way joined a stranger's chat."""
    client = Client()
    chat = client.ask(QUESTION).answer(TEMPLATE.format(71, "1,204.5"))
    again = client.ask(QUESTION, ai(told), "Why?")
    assert (again.conversation == chat.conversation) == is_joined


STORY = "Shares of **{}** fell after the [report](https://a.test/{}) of this morning. {} said they will rise again."


@pytest.mark.parametrize(
    ("told", "is_joined"),
    [
        (STORY.format("Acme", 1, "Goldman Sachs"), True),
        (STORY.format("Acme", 1, "Goldman Sachs")[:90], True),
        (STORY.format("Acme", 1, "Goldman Sachs")[9:] + "\n\nSources: a.test", True),
        (STORY.format("Acme[1]", 1, "Goldman Sachs[2]").replace("https://a.test/1", ""), True),
        (STORY.format("Roche", 1, "Goldman Sachs"), False),
        (STORY.format("Roche", 1, "Goldman Sachs")[:60], False),
        (STORY.format("Acme", 1, "Morgan Stanley"), False),
    ],
)
@pytest.mark.parametrize("render", [str, MARKDOWN.render], ids=["Markdown", "HTML"])
def test_other_words_among_the_same_are_another_chat_also_where_it_is_the_only_one(
    told, is_joined, render
):
    """Of chats whose beginnings are left out, the only one with a first question is mostly a stranger's."""
    client = Client()
    chat = client.ask(QUESTION).answer("So. " + STORY.format("Acme", 1, "Goldman Sachs"))
    again = client.ask(QUESTION, ai(render(told)), "Why?")
    assert (again.conversation == chat.conversation) == is_joined


def test_of_two_chats_that_part_late_the_one_that_was_laid_out_in_this_way_before_is_not_joined():
    """Two answers had the same letters as far as these were read, and one of them was stored as HTML."""
    client = Client()
    long = "\n\n".join(RENDERED["markup gone"](answer) for answer in ANSWERS * 6)
    assert len(long) > COMPARED
    answers = [f"{long}\n\n**{name}** rose." for name in ("Acme", "Roche")]
    for answer in answers:
        client.ask(QUESTION).answer(answer)
    first, second = (
        client.ask(QUESTION, ai(MARKDOWN.render(answer)), "Why?").conversation for answer in answers
    )
    assert first != second


def test_a_chat_is_found_by_what_it_says_and_not_by_the_markup_of_another():
    client = Client()
    tables = [f"| a | b |\n|---|---|\n| {name} | rose |" for name in ("gold", "zinc", "iron")]
    asked = [client.ask(QUESTION).answer(table) for table in tables]
    client.ask(QUESTION, ai(MARKDOWN.render(tables[0])), "Why?")
    for chat, table in zip(asked, tables, strict=True):
        again = client.ask(QUESTION, ai(MARKDOWN.render(table)), "Why?")
        assert again.conversation == chat.conversation


def test_an_answer_that_is_like_none_begins_a_conversation():
    client, _ = chats(4)
    client.ask(QUESTION, ai("qqqq jjjj xxxx zzzz"), "Why?")
    assert Conversation.objects.count() == 5


@pytest.mark.parametrize("length", [100, 200, 300])
def test_a_chat_held_with_another_copilot_joins_no_long_answer_to_the_same_question(length):
    client = Client()
    client.ask(QUESTION).answer(PROSE.read_text()[:COMPARED])
    elsewhere = " ".join(ANSWERS)[:length]
    client.ask(QUESTION, ai(elsewhere), "Why?")
    assert Conversation.objects.count() == 2


def test_where_not_all_can_be_compared_only_the_same_letters_join(monkeypatch):
    monkeypatch.setattr(finding, "RANKED", 4)
    client, asked = chats(6)
    whole = client.ask(QUESTION, ai(RENDERED["laid out anew"](ANSWERS[5])), "Why?")
    assert whole.conversation == asked[5].conversation
    client.ask(QUESTION, ai(ANSWERS[0][:40]), "Why?")  # among those that are not compared
    client.ask(QUESTION, ai(ANSWERS[4][:40]), "Why?")  # among those that are, but cut
    assert Conversation.objects.count() == 8


def test_a_long_chat_that_was_never_seen_is_compared_with_nothing(monkeypatch):
    client, _ = chats(2)
    monkeypatch.setattr(ranking, "Compared", None)
    client.ask("Something else", ai(ANSWERS[0]), "Why?")
    assert Conversation.objects.count() == 3


def test_calls_alone_do_not_tell_conversations_apart():
    assert ranking.most_alike((), (), complete=True) is None


def test_the_number_of_queries_does_not_depend_on_the_chats(django_assert_max_num_queries):
    client, _ = chats(6)
    for _ in itertools.repeat(None, 20):
        client.ask(QUESTION).answer(ANSWERS[0][:30] + "elsewhere")
    with django_assert_max_num_queries(24):
        client.ask(QUESTION, ai(RENDERED["markup gone"](ANSWERS[3])), "Why?")
