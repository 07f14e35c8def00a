"""The gallery's facts about templates are true: icon, picture, needs and sample answer."""

import re

import pytest

from copilot_admin.copilots.test_cases import TestCaseEntry
from copilot_admin.evaluation.assertions import CaseAnswer, check_assertion
from copilot_admin.import_export.templates import Template, TemplateGroup, templates
from copilot_admin.models import ResultVerdict
from copilot_admin.settings import BASE_DIR

SPRITE = BASE_DIR / "copilot_admin/static/copilot_admin/img/icons.svg"
ICONS = set(re.findall(r'id="i-([a-z0-9-]+)"', SPRITE.read_text()))
every_template = pytest.mark.parametrize("template", templates().values(), ids=lambda one: one.slug)


@every_template
def test_every_template_has_an_icon_or_a_picture(template: Template) -> None:
    assert template.icon in ICONS - {"copilot"}
    assert bool(template.picture) is (template.group is TemplateGroup.JOBS)


@every_template
def test_a_template_for_a_job_has_instructions_and_starter_questions(template: Template) -> None:
    if template.group is TemplateGroup.JOBS:
        assert 3 <= len(template.starters) <= 4
        assert len(template.entry["system_prompt"].split()) > 80


@every_template
def test_a_sample_answer_passes_the_tests_of_its_template(template: Template) -> None:
    assert template.sample is not None
    asked = [TestCaseEntry.model_validate(row) for row in template.entry["questions"]]
    wanted = [a for one in asked if one.question == template.sample.question for a in one.expect]
    assert wanted
    answer = CaseAnswer(
        text=template.sample.answer,
        cited=frozenset(re.findall(r"^Source: (.+)$", template.sample.answer, re.MULTILINE)),
    )
    for assertion in wanted:
        if assertion.kind not in {"calls", "cites"}:  # of a run, not of a text
            outcome = check_assertion(assertion, answer)
            assert outcome is not None and outcome.verdict is ResultVerdict.PASSED


@pytest.mark.parametrize(
    ("slug", "count"),
    [("prompt-optimizer", 0), ("widget-reader", 1), ("pdf-reader", 2), ("custom-options", 3)],
)
def test_needs_are_read_from_the_switches(slug: str, count: int) -> None:
    assert len(templates()[slug].needs) == count
