"""What is known of a conversation whose rows go while it is read."""

import pytest

from copilot_admin.models import Event, Run, Turn, TurnText
from copilot_admin.transcripts.queries import read_outline, read_tree
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db


def test_a_question_that_is_removed_meanwhile_has_no_words():
    """The page was a fault of the server's."""
    asked = Client().ask("Hi").answer("Hello.")
    tree = read_tree(asked.conversation)
    for model in (Event, Run, TurnText, Turn):
        model.objects.all().delete()
    (turn,) = read_outline(asked.conversation, tree).turns
    assert (turn.head, turn.size) == ("", 0)
