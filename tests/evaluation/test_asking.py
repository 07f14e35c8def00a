"""A saved question goes the way of every query, as a trial of its builder, and is judged."""

import pytest

from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage
from copilot_admin.errors import ProviderRefused, Unavailable
from copilot_admin.evaluation import asking, judging
from copilot_admin.evaluation.expectations import AnswerVerdict
from copilot_admin.evaluation.question_queue import AnswerSource
from copilot_admin.evaluation.question_runs import (
    QuestionResult,
    digest_of_draft,
    result_of,
    target_of,
    trying,
)
from copilot_admin.jobs.tasks import run_coroutine
from copilot_admin.models import (
    Conversation,
    Copilot,
    DailyUsage,
    Judgement,
    Run,
    SavedQuestion,
    Side,
)
from copilot_admin.runs.open_run import start_draining, stop_draining
from tests.agent.scripted import Step, broken, call, stalled, text
from tests.evaluation.questions import PRICES, script
from tests.factories import make_copilot, make_published, make_saved

pytestmark = pytest.mark.django_db(transaction=True)


def asked(saved: SavedQuestion, side: Side = Side.DRAFT) -> QuestionResult:
    target = target_of(Copilot.objects.select_related("provider").get(), side)
    return run_coroutine(result_of(saved, target, trying(7)))


def test_a_draft_reads_its_widget_and_cites_it_without_a_dashboard():
    copilot = make_copilot(widget_data="fetch")
    saved = make_saved(copilot, body={"widgets": [PRICES]}, expectation={"cites": "prices"})
    result = asked(saved)
    assert result.verdict == AnswerVerdict(Judgement.AS_EXPECTED, "The widget is cited.")
    assert result.source == AnswerSource(digest=digest_of_draft(copilot))
    assert result.asked.answer.called == {"get_widget_data"}
    assert result.asked.figures.input_tokens > 0
    assert Run.objects.count() == 2
    conversation = Conversation.objects.get(trace_id=result.asked.trace_id)
    assert conversation.principal == "playground:7"
    assert not Conversation.objects.of_callers().exists()
    assert not DailyUsage.objects.exists()


def test_a_trial_says_which_conversation_its_question_is_from(monkeypatch):
    script(monkeypatch, text("Hi."))
    saved = make_saved(make_copilot())
    SavedQuestion.objects.update(origin=12)
    saved.refresh_from_db()
    assert asked(saved).asked.failure == ""
    assert Conversation.objects.get().origin == 12


@pytest.mark.database
def test_what_is_live_answers_for_itself(monkeypatch):
    copilot = make_published(system_prompt="Old")
    Copilot.objects.update(system_prompt="New")
    provider = script(monkeypatch, text("It is 106."))
    result = asked(make_saved(copilot, expectation={"number": 106}), Side.LIVE)
    assert result.verdict.judgement == Judgement.AS_EXPECTED
    assert result.source == AnswerSource(version_number=1)
    assert provider.calls[0].messages[0].text.startswith("Old")


def test_without_a_live_version_it_is_said_how_to_get_one():
    result = asked(make_saved(make_copilot()), Side.LIVE)
    assert result.verdict == AnswerVerdict(
        Judgement.UNDECIDED, "Nothing is live: publish the copilot and switch it on."
    )


def test_an_answer_is_enough_where_nothing_is_expected(monkeypatch):
    script(monkeypatch, text("Hi."))
    assert asked(make_saved(make_copilot())).verdict == AnswerVerdict(Judgement.ANSWERED, "")


def test_a_failure_is_no_answer_even_where_its_words_would_do(monkeypatch):
    script(monkeypatch, broken(ProviderRefused("The key is wrong.")))
    saved = make_saved(make_copilot(), expectation={"contains": "wrong"})
    assert asked(saved).verdict == AnswerVerdict(Judgement.UNDECIDED, "The key is wrong.")


def test_a_draft_whose_other_provider_is_gone_says_so():
    feature = {"key": "deep", "label": "Deep", "type": "toggle", "provider": "Gone", "model": "m"}
    copilot = make_copilot(custom_features=[feature])
    assert asked(make_saved(copilot)).verdict == AnswerVerdict(
        Judgement.UNDECIDED, "There is no provider named 'Gone'. Choose another."
    )


def test_a_question_that_this_release_cannot_read_is_said_and_stays():
    saved = make_saved(make_copilot(), body={"widget": []}, expectation={"cites": "prices"})
    verdict = asked(saved).verdict
    assert verdict.judgement == Judgement.UNDECIDED
    assert verdict.reason.startswith("The question cannot be asked: widget: there is no such key.")
    assert SavedQuestion.objects.get().body == {"widget": []}


def test_a_widget_that_is_gone_cannot_be_cited_any_more():
    saved = make_saved(make_copilot(), expectation={"cites": "prices"})
    assert asked(saved).verdict.reason == (
        "The question cannot be asked: "
        "shall cite 'prices', which it does not bring. Its widgets: none."
    )


def test_a_model_judges_by_a_sentence(monkeypatch):
    provider = script(monkeypatch, text("Good day."), text("YES", ": it greets."))
    saved = make_saved(make_copilot(), expectation={"judged": "It greets."})
    assert asked(saved).verdict == AnswerVerdict(Judgement.AS_EXPECTED, "YES: it greets.")
    prompt = provider.calls[1].messages[0].text
    assert "<statement>\nIt greets.\n</statement>" in prompt
    assert "<answer>\nGood day.\n</answer>" in prompt


def test_the_tokens_of_the_judge_count(monkeypatch):
    judging_step = Step((TextDelta("YES"), Usage(input_tokens=40, output_tokens=2), Finish("stop")))
    answering = Step((TextDelta("Hi."), Usage(input_tokens=10, output_tokens=1), Finish("stop")))
    script(monkeypatch, answering, judging_step)
    figures = asked(make_saved(make_copilot(), expectation={"judged": "It greets."})).asked.figures
    assert (figures.input_tokens, figures.output_tokens) == (50, 3)


@pytest.mark.parametrize("rows", [1, 2000])
def test_tools_of_the_server_count_as_called(monkeypatch, rows):
    table = [{"day": number, "close": "1" * 100} for number in range(rows)]
    script(monkeypatch, call("table", name="Prices", description="All", rows=table), text("There."))
    copilot = make_copilot(tools=["table"])
    result = asked(make_saved(copilot, expectation={"calls": "table"}))
    assert result.verdict == AnswerVerdict(Judgement.AS_EXPECTED, "The function was called.")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (broken(ProviderRefused("No.")), "No."),
        (text("Perhaps."), "The judging model said neither yes nor no: Perhaps."),
        (stalled(), "The judging model took too long."),
    ],
)
def test_a_judge_that_does_not_judge_leaves_it_open(monkeypatch, step, reason):
    monkeypatch.setattr(judging, "JUDGE_SECONDS", 0.05)
    script(monkeypatch, text("Good day."), step)
    saved = make_saved(make_copilot(), expectation={"judged": "It greets."})
    assert asked(saved).verdict == AnswerVerdict(Judgement.UNDECIDED, reason)


def test_an_answer_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(asking, "ASK_SECONDS", 0.05)
    provider = script(monkeypatch, stalled("It "))
    verdict = asked(make_saved(make_copilot())).verdict
    assert verdict.judgement == Judgement.UNDECIDED
    assert verdict.reason.startswith("There was no whole answer after")
    assert provider.open == 0


def test_a_copilot_that_calls_in_circles_is_stopped(monkeypatch):
    monkeypatch.setattr(asking, "MOST_LEGS", 1)
    copilot = make_copilot(widget_data="fetch")
    verdict = asked(make_saved(copilot, body={"widgets": [PRICES]})).verdict
    assert verdict.reason == "The copilot called functions 1 times without an answer."


def test_while_the_server_goes_down_a_question_has_to_wait():
    start_draining()
    try:
        with pytest.raises(Unavailable):
            asked(make_saved(make_copilot()))
    finally:
        stop_draining()
