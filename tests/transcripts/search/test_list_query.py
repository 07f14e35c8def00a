"""Pages of the list, its neighbours and selections."""

from datetime import timedelta

import pytest

from copilot_admin.models import Conversation
from copilot_admin.transcripts.search.list_query import ConversationList, RowKey
from tests.factories import make_version
from tests.transcripts.store.journaling import START, Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def ask(number: int) -> list[int]:
    """Make conversations, two of each second; return their ids as the list has them."""
    version = make_version(slug="desk")
    for place in range(number):
        client = Client(version=version, trace_id=f"t-{place}", now=START)
        pk = client.ask(f"Question {place}").answer("Yes").conversation.pk
        last_at = START + timedelta(seconds=place // 2)
        Conversation.objects.filter(pk=pk).update(last_at=last_at)
    rows = Conversation.objects.order_by("-last_at", "-pk")
    return list(rows.values_list("pk", flat=True))


def rows_of(**given: str) -> ConversationList:
    return ConversationList(Conversation.objects.all(), given)


@pytest.mark.parametrize("sort", ["", "oldest"])
@pytest.mark.parametrize("words", ["", "question"])
def test_pages_follow_each_other_there_and_back(sort: str, words: str):
    ids = ask(7)
    rows = rows_of(sort=sort, q=words)
    expected = ids[::-1] if sort else ids
    found: list[int] = []
    after, keys = None, []
    while True:
        page = rows.read_page(size=3, after=after)
        found += [row.pk for row in page.rows]
        keys.append(RowKey.of(page.rows[0]))
        assert page.has_previous is (after is not None)
        if not page.has_next:
            break
        after = RowKey.of(page.rows[-1])
    assert found == expected
    for place, key in enumerate(keys[1:]):
        back = rows.read_page(size=3, before=key)
        assert [row.pk for row in back.rows] == expected[3 * place : 3 * place + 3]
        assert back.has_next


def test_neighbours_and_selections_follow_the_filters_and_stay_visible():
    Client().ask("Hidden").answer("Yes")
    hidden = Conversation.objects.get()
    ids = ask(4)[1:]  # the newest is of another copilot
    visible = Conversation.objects.filter(pk__in=ids)
    rows = ConversationList(visible, {"copilot": "desk"})
    by_id = Conversation.objects.in_bulk(ids)
    for here, following in zip(ids, [*ids[1:], None], strict=True):
        assert rows.find_neighbour(RowKey.of(by_id[here]), is_next=True) == following
    assert rows.find_neighbour(RowKey.of(by_id[ids[0]]), is_next=False) is None
    assert rows.select_ids() == ids
    assert ConversationList(visible, {"q": "question"}).select_ids() == ids
    assert rows.count(2, seconds=1) == 3
    found = ConversationList(visible, {"q": f"#{hidden.pk}"})
    assert not found.read_page(size=5).rows
    assert found.select_ids() == []
