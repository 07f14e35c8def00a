"""A server asks saved questions in its loop, so that its background thread goes on."""

import pytest

from copilot_admin.evaluation import question_asker
from copilot_admin.evaluation.question_queue import AskingProgress, progress_of, stop
from copilot_admin.evaluation.question_tasks import ask_in_background
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import SavedQuestion, Side
from tests.agent.scripted import stalled, text
from tests.evaluation.questions import script
from tests.factories import make_copilot, make_saved
from tests.polling import HANGS_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)


def ask(copilot):
    questions = list(SavedQuestion.objects.filter(copilot=copilot))
    return ask_in_background(copilot.pk, questions, [Side.DRAFT], user_id=None)


def test_a_slow_question_holds_neither_the_next_ones_nor_another_copilot(monkeypatch, service_url):
    monkeypatch.setattr(question_asker, "LOOK_SECONDS", 0.01)
    slow, other = make_copilot(), make_copilot()
    for number in range(6):
        make_saved(slow, f"{number}?")
    make_saved(other)
    provider = script(monkeypatch, stalled("It "), *[text("Done.")] * 6)
    ask(slow)
    assert eventually(lambda: progress_of(slow.pk) == AskingProgress(total=6, unfinished=1))
    ask(other)
    assert eventually(lambda: progress_of(other.pk) == AskingProgress(total=1, unfinished=0))
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert provider.open == 1
    stop(slow.pk)
