"""A test case takes the way of every query, as a run of the playground, and is judged."""

import pytest

from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage
from copilot_admin.errors import ProviderRefused
from copilot_admin.evaluation import assertions, case_query, worker
from copilot_admin.evaluation.queue import cancel_runs
from copilot_admin.evaluation.worker import run_evaluations
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import (
    Conversation,
    Copilot,
    DailyUsage,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    Run,
    TargetKind,
)
from copilot_admin.runs.open_run import DRAINING
from tests.agent.scripted import Step, broken, call, stalled, text
from tests.evaluation.evaluations import PRICES, evaluate, queue_run, script
from tests.factories import make_case, make_copilot
from tests.polling import HANGS_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_draft_reads_and_cites_the_widget_of_the_test_data():
    copilot = make_copilot(widget_data="fetch")
    expect = [{"cites": "prices"}, {"calls": "get_widget_data"}]
    case = make_case(copilot, test_data={"widgets": [PRICES]}, expect=expect, origin=12)
    result = evaluate(case)
    assert result.verdict == ResultVerdict.PASSED
    assert [one["verdict"] for one in result.outcomes] == ["passed", "passed"]
    assert result.input_tokens > 0
    assert Run.objects.count() == 2
    conversation = Conversation.objects.get(trace_id=result.trace_id)
    assert (conversation.principal, conversation.origin) == ("playground:command", 12)
    assert not Conversation.objects.of_callers().exists()
    assert not DailyUsage.objects.exists()


def test_the_draft_is_run_as_it_was_at_the_start(monkeypatch):
    case = make_case(make_copilot(system_prompt="Be short."))
    provider = script(monkeypatch, text("Hi."), text("Hi."))  # of both runs, in any order
    queue_run(case.copilot)
    Copilot.objects.update(system_prompt="Be long.")
    evaluate(case, TargetKind.DRAFT)
    assert any("Be short." in str(call.messages) for call in provider.calls)
    assert Copilot.objects.get().system_prompt == "Be long."


def test_what_cannot_be_run_is_an_error_with_its_reason():
    feature = {"key": "deep", "label": "Deep", "type": "toggle", "provider": "Gone", "model": "m"}
    gone = evaluate(make_case(make_copilot(custom_features=[feature])))
    assert gone.verdict == ResultVerdict.ERROR and "'Gone'" in gone.error
    invalid = evaluate(make_case(make_copilot(), test_data={"widget": []}))
    assert invalid.verdict == ResultVerdict.ERROR and "widget" in invalid.error
    uncited = evaluate(make_case(make_copilot(), expect={"cites": "prices"}))
    assert uncited.verdict == ResultVerdict.ERROR and "prices" in uncited.error


def test_a_model_judges_a_statement_and_its_tokens_count(monkeypatch):
    answering = Step((TextDelta("Hi."), Usage(input_tokens=10, output_tokens=1), Finish("stop")))
    judging = Step((TextDelta("YES"), Usage(input_tokens=40, output_tokens=2), Finish("stop")))
    provider = script(monkeypatch, answering, judging)
    result = evaluate(make_case(make_copilot(), expect={"judged": "It greets."}))
    assert result.verdict == ResultVerdict.PASSED
    assert (result.input_tokens, result.output_tokens) == (50, 3)
    prompt = provider.calls[1].messages[0].text
    assert "<statement>\nIt greets.\n</statement>" in prompt
    assert "<answer>\nHi.\n</answer>" in prompt


@pytest.mark.parametrize("rows", [1, 2000])
def test_tools_of_the_server_count_as_called(monkeypatch, rows):
    table = [{"day": number, "close": "1" * 100} for number in range(rows)]
    script(monkeypatch, call("table", name="Prices", description="All", rows=table), text("There."))
    result = evaluate(make_case(make_copilot(tools=["table"]), expect={"calls": "table"}))
    assert result.verdict == ResultVerdict.PASSED


@pytest.mark.parametrize(
    "step", [broken(ProviderRefused("No.")), text("Perhaps."), stalled()], ids=str
)
def test_a_judge_that_does_not_judge_is_inconclusive(monkeypatch, step):
    monkeypatch.setattr(assertions, "TIMEOUT_SECONDS", 0.05)
    script(monkeypatch, text("Good day."), step)
    result = evaluate(make_case(make_copilot(), expect={"judged": "It greets."}))
    assert result.verdict == ResultVerdict.INCONCLUSIVE
    assert result.outcomes[0]["reason"]


def test_a_copilot_that_calls_in_circles_is_stopped(monkeypatch):
    monkeypatch.setattr(case_query, "MAX_REQUESTS", 1)
    case = make_case(make_copilot(widget_data="fetch"), test_data={"widgets": [PRICES]})
    assert evaluate(case).verdict == ResultVerdict.ERROR


def test_while_the_server_stops_a_test_case_waits(monkeypatch):
    DRAINING.set()
    try:
        result = evaluate(make_case(make_copilot()))
    finally:
        DRAINING.clear()
    assert result.state == ResultState.WAITING


def test_a_slow_answer_holds_up_neither_the_others_nor_another_copilot(monkeypatch, service_url):
    """A server runs test cases on its event loop, so its background thread stays free."""
    monkeypatch.setattr(worker, "HEARTBEAT_SECONDS", 0.01)
    slow, other = make_copilot(), make_copilot()
    for number in range(6):
        make_case(slow, f"{number}?")
    case = make_case(other)
    provider = script(monkeypatch, stalled("It "), *[text("Done.")] * 6)
    done = EvaluationResult.objects.filter(state=ResultState.DONE)
    queue_run(slow)
    run_evaluations.enqueue(slow.pk)
    assert eventually(lambda: done.count() == 5)
    queue_run(other)
    run_evaluations.enqueue(other.pk)
    assert eventually(lambda: case.results.get().state == ResultState.DONE)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert provider.open == 1
    cancel_runs(EvaluationRun.objects.filter(copilot=slow))
    assert eventually(lambda: provider.open == 0)
