"""The Test tab: add, import, run, read the matrix, compare answers, require a pass rate."""

import csv
from io import BytesIO, StringIO
import json
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import (
    AuditEntry,
    Copilot,
    EvaluationResult,
    EvaluationRun,
    PublishGate,
    RunState,
    TargetKind,
    TestCase,
)
from tests.agent.scripted import text
from tests.evaluation.evaluations import queue_run, script
from tests.factories import (
    make_case,
    make_copilot,
    make_provider,
    make_published,
    make_result,
    make_user,
)
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
WIDGET = {"id": "prices", "rows": [{"close": 106}]}
BLANK = dict.fromkeys(
    ("contains", "lacks", "number", "tolerance", "cites", "calls", "judged", "label"), ""
)


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


def url(suffix: str, *arguments: object) -> str:
    return reverse(f"admin:copilot_admin_copilot_test{suffix}", args=arguments)


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def post_case(client: Client, address: str, question: str = "What?", **values: Any) -> Any:
    return client.post(address, {**BLANK, "question": question, **values})


def test_a_test_is_added_with_all_kinds_of_assertions(builder):
    copilot = make_copilot()
    response = post_case(
        builder,
        url("_add", copilot.pk),
        "How much?",
        contains="steepen\n yield ",
        lacks="sorry",
        number="(3.2)".strip("()"),
        tolerance="0.1",
        calls="get_widget_data",
        judged="It names a risk.",
        label="rates",
    )
    assert response.url == url("s", copilot.pk)
    assert as_row(TestCase.objects.get()) == {
        "question": "How much?",
        "expect": [
            {"contains": "steepen"},
            {"contains": "yield"},
            {"lacks": "sorry"},
            {"number": 3.2, "tolerance": 0.1},
            {"calls": "get_widget_data"},
            {"judged": "It names a risk."},
        ],
        "label": "rates",
    }
    again = post_case(builder, url("_add", copilot.pk), "And?", _another="1")
    assert again.url == url("_add", copilot.pk)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"question": " "}, "question"),
        ({"number": "much"}, "number"),
        ({"number": "1,234"}, "number"),
        ({"tolerance": "1"}, "number"),
        ({"number": "1", "tolerance": "-1"}, "tolerance"),
    ],
)
def test_a_mistake_is_shown_at_its_field_and_nothing_is_lost(builder, values, field):
    copilot = make_copilot()
    response = post_case(builder, url("_add", copilot.pk), **{"lacks": "kept words", **values})
    page = response.content.decode()
    assert f'id="id_{field}_error"' in page and "kept words" in page
    assert not TestCase.objects.exists()


def test_editing_keeps_the_test_data_and_what_the_form_does_not_show(builder):
    expect = [{"number": 1}, {"number": 2, "tolerance": 1}, {"cites": "prices"}]
    case = make_case(make_copilot(), test_data={"widgets": [WIDGET]}, expect=expect)
    address = url("", case.copilot_id, case.pk)
    assert "prices" in page_of(builder, address)
    assert post_case(builder, address, number="7", cites="prices").status_code == 302
    row = as_row(TestCase.objects.get())
    assert row["widgets"] == [WIDGET]
    assert row["expect"] == [{"number": 7.0}, {"cites": "prices"}, {"number": 2, "tolerance": 1}]
    assert AuditEntry.objects.filter(subject_kind="testcase", action="changed").exists()


def test_a_test_is_moved_and_deleted(builder):
    copilot = make_copilot()
    cases = [make_case(copilot, f"{number}?") for number in range(3)]
    builder.post(url("_move", copilot.pk, cases[2].pk), {"direction": "up"})
    builder.post(url("_move", copilot.pk, cases[0].pk), {"direction": "up"})
    builder.post(url("_move", copilot.pk, cases[0].pk), {"direction": "down"})
    assert [one.question for one in copilot.test_cases.all()] == ["2?", "0?", "1?"]
    make_result(cases[0])
    builder.post(url("_delete", copilot.pk, cases[0].pk))
    assert not EvaluationResult.objects.exists()
    assert copilot.test_cases.count() == 2


def upload(client: Client, copilot: Copilot, content: str | bytes) -> Any:
    data = content.encode() if isinstance(content, str) else content
    return client.post(url("s_import", copilot.pk), {"file": BytesIO(data)})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_csv_file_is_imported(builder, delimiter):
    lines = [
        ["Question", "expected", "number", "tolerance", "label"],
        ["How much, exactly?", "dollars", "106.5", "0.5", "prices"],
        ["", "", "", "", ""],
        ["Where?", "", "", "", ""],
    ]
    file = StringIO()
    csv.writer(file, delimiter=delimiter).writerows(lines)
    copilot = make_copilot()
    assert upload(builder, copilot, "\ufeff" + file.getvalue()).url == url("s", copilot.pk)
    assert [as_row(one) for one in copilot.test_cases.all()] == [
        {
            "question": "How much, exactly?",
            "expect": [{"contains": "dollars"}, {"number": 106.5, "tolerance": 0.5}],
            "label": "prices",
        },
        {"question": "Where?"},
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "1:"),
        (b"\xff\xfe", "1:"),
        ("text\nWhat?", "1:"),
        ("question,color\nWhat?,red", "1:"),
        ("question\n", "1:"),
        ("question,number\nWhat?,1\nWhat?,much", "3:"),
        ("question,tolerance\nWhat?,1", "2:"),
        ("question,expected\n,x", "2:"),
        (f"question\n{'x' * 20_001}", "2:"),
        (f"question,expected\nWhat?,{'x' * 2001}", "2:"),
        (f"question,label\nWhat?,{'x' * 61}", "2:"),
    ],
)
def test_a_bad_csv_file_names_the_line_and_imports_nothing(builder, content, line):
    copilot = make_copilot()
    page = upload(builder, copilot, content).content.decode()
    assert not content or f"<li>{line}" in page
    assert not TestCase.objects.exists()


def test_draft_live_a_version_and_models_run_together(builder, monkeypatch):
    script(monkeypatch, *[text("Hi.")] * 8)
    copilot = make_published()
    copilot.versions.create(number=2, document=copilot.live.document, provider=copilot.provider)
    make_case(copilot, "One?", label="a")
    make_case(copilot, "Two?")
    other = make_provider()
    sent = {
        "cases": "label:a",
        "targets": ["draft", "live"],
        "versions": ["2"],
        "other_model": "big-9",
        "other_provider": other.pk,
        "cost_limit": "0.5",
    }
    assert builder.post(url("s_run", copilot.pk), sent).url == url("s", copilot.pk)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    runs = EvaluationRun.objects.order_by("pk")
    assert [run.target for run in runs] == ["draft", "live", "version", "model"]
    assert all(run.is_partial and run.cost_limit and run.started_by for run in runs)
    page = page_of(builder, url("s", copilot.pk))
    assert page.count('data-verdict="passed"') == 4
    assert page.count('data-verdict="missing"') == 4
    assert 'data-active="false"' in page and "hx-get" not in page.split('id="tests"')[1][:300]


@pytest.mark.parametrize(
    "sent", [{}, {"targets": ["live"]}, {"targets": ["draft"], "cost_limit": "-1"}]
)
def test_a_run_that_is_not_possible_is_refused(builder, sent):
    case = make_case(make_copilot())
    response = builder.post(url("s_run", case.copilot_id), sent)
    assert response.status_code == 200 and b'data-panel="run"' in response.content
    assert not EvaluationRun.objects.exists()


def test_progress_is_polled_until_the_run_is_cancelled(builder):
    copilot = make_copilot()
    make_case(copilot)
    run = queue_run(copilot)
    assert 'hx-get="' + url("s_table", copilot.pk) in page_of(builder, url("s", copilot.pk))
    table = builder.get(url("s_table", copilot.pk))
    assert b"cancel-run" in table.content
    builder.post(url("s_cancel", copilot.pk))
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert b"cancel-run" not in builder.get(url("s_table", copilot.pk)).content


def test_the_matrix_shows_verdicts_changes_and_what_is_outdated(builder):
    copilot = make_published()
    passed, failed = make_case(copilot, "One?"), make_case(copilot, "Two?")
    make_result(passed, "passed")
    make_result(failed, "failed", is_changed=True, target=TargetKind.LIVE)
    Copilot.objects.update(system_prompt="Other")
    page = page_of(builder, url("s", copilot.pk))
    assert 'data-outdated="1"' in page
    assert (page.count('data-verdict="passed"'), page.count('data-verdict="failed"')) == (1, 1)
    assert "data-changed" in page
    problems = page_of(builder, url("s", copilot.pk) + "?show=problems")
    assert f'id="case-{failed.pk}"' in problems and f'id="case-{passed.pk}"' not in problems


def test_an_opened_test_shows_rendered_answers_reasons_and_differences(builder):
    case = make_case(make_copilot(), recorded_answer="**Before** <script>")
    reason = {"assertion": "contains “x”", "verdict": "failed", "reason": "Not <found>."}
    make_result(case, "failed", answer="**Now**", is_changed=True, outcomes=[reason], cost="0.006")
    page = page_of(builder, url("s", case.copilot_id) + f"?open={case.pk}")
    assert "<strong>Before</strong> &lt;script&gt;" in page
    assert "<strong>Now</strong>" in page and "Not &lt;found&gt;." in page
    assert "<del>" in page and "<ins>" in page
    assert 'aria-expanded="true"' in page


def test_results_are_downloaded(builder):
    case = make_case(make_copilot(), "=1+1")
    make_result(case, "failed", answer="No", error="Why")
    address = url("s_export", case.copilot_id)
    (row,) = json.loads(builder.get(address, {"format": "json"}).content)
    assert (row["question"], row["verdict"], row["reasons"]) == ("=1+1", "failed", "Why")
    text_file = builder.get(address, {"format": "csv"}).content.decode("utf-8-sig")
    (line,) = csv.DictReader(StringIO(text_file))
    assert (line["question"], line["answer"]) == ("'=1+1", "No")
    assert builder.get(address, {"format": "pdf"}).status_code == 404


def test_a_required_pass_rate_is_set_and_removed(builder):
    copilot = make_copilot()
    address = url("s_gate", copilot.pk)
    for sent, stored in (("90", 90), ("101", 90), ("80", 80)):
        builder.post(address, {"min_percent": sent, "is_blocking": "False"})
        gate = PublishGate.objects.get(copilot=copilot)
        assert (gate.min_percent, gate.is_blocking) == (stored, False)
    builder.post(address, {"min_percent": "", "is_blocking": "True"})
    assert not PublishGate.objects.exists()


def test_whoever_may_only_look_changes_nothing(client):
    client.force_login(make_user(Role.AUDITORS))
    case = make_case(make_copilot())
    make_result(case)
    page = page_of(client, url("s", case.copilot_id))
    assert url("_add", case.copilot_id) not in page and "add-test" not in page
    for address in (url("_add", case.copilot_id), url("s_run", case.copilot_id)):
        assert client.get(address).status_code == 403
    assert client.post(url("s_cancel", case.copilot_id)).status_code == 403
    assert client.post(url("_delete", case.copilot_id, case.pk)).status_code == 403
    assert client.get(url("s_cancel", case.copilot_id)).status_code == 405
