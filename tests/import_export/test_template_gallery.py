"""What the gallery says of templates is true of them: icon, needs, and a sample answer."""

import re

import pytest

from copilot_admin.copilots.questions.entry import QuestionEntry
from copilot_admin.evaluation.expectations import GivenAnswer, verdict_on
from copilot_admin.import_export.template_needs import needs_of
from copilot_admin.import_export.templates import Template, TemplateGroup, templates
from copilot_admin.models import Judgement
from copilot_admin.settings import BASE_DIR

ICONS = set(
    re.findall(
        r'id="ca-icon-([a-z0-9-]+)"', (BASE_DIR / "templates/admin/includes/icons.html").read_text()
    )
)
every_template = pytest.mark.parametrize("template", templates().values(), ids=lambda one: one.slug)


@every_template
def test_every_template_has_an_icon_that_is_drawn(template: Template) -> None:
    assert template.icon in ICONS - {"copilot"}


@every_template
def test_a_sample_answer_is_what_the_template_itself_expects(template: Template) -> None:
    assert template.sample is not None
    asked = [QuestionEntry.model_validate(row) for row in template.entry["questions"]]
    wanted = [one.expect for one in asked if one.question == template.sample.question]
    assert wanted
    answer = GivenAnswer(
        text=template.sample.answer,
        cited=frozenset(re.findall(r"^Source: (.+)$", template.sample.answer, re.MULTILINE)),
    )
    for expected in (one.value() for one in wanted if one):
        if expected.kind not in {"calls", "cites"}:  # of a run, not of a text
            verdict = verdict_on(expected, answer)
            assert verdict is not None
            assert verdict.judgement is Judgement.AS_EXPECTED


@pytest.mark.parametrize(
    ("slug", "needs"),
    [
        ("prompt-optimizer", ()),
        ("widget-reader", ("Widgets that the user selects with @",)),
        (
            "pdf-reader",
            ("Widgets that the user selects with @", "Files that the user attaches"),
        ),
        (
            "dashboard-explorer",
            (
                "Widgets that the user selects with @",
                "The widgets of the open dashboard",
                "Leave to change the dashboard, where that is asked",
            ),
        ),
        (
            "mcp-tools",
            ("Widgets that the user selects with @", "MCP servers that the user has connected"),
        ),
        (
            "custom-options",
            (
                "Widgets that the user selects with @",
                "Options in the chat: Deep Research, Web Search, Tone, House view",
                "More models to choose from",
            ),
        ),
        (
            "portfolio-commentary",
            (
                "Widgets that the user selects with @",
                "The widgets of the open dashboard",
                "Options in the chat: Web search",
                "A second model, such as one that searches the web",
            ),
        ),
        ("skills", ("Skills that the user keeps in Workspace",)),
    ],
)
def test_what_a_template_needs_is_read_off_its_switches(slug: str, needs: tuple[str, ...]) -> None:
    assert needs_of(templates()[slug]) == needs


def test_a_template_without_these_words_is_one_all_the_same() -> None:
    entry = {"name": "A", "widget_data": "off", "features": {"widget-dashboard-select": True}}
    bare = Template(slug="a", summary="", entry=entry)
    assert (bare.icon, bare.group, bare.sample, needs_of(bare)) == (
        "copilot",
        TemplateGroup.WORKS,
        None,
        (),
    )
