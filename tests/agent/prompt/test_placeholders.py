"""Placeholders of a system prompt."""

import pytest

from copilot_admin.agent.prompt.placeholders import fill, find_unclosed, unknown_placeholders
from protocol.features import CustomFeature, CustomFeatureType
from protocol.models import Widgets
from tests.agent.answer_requests import NOW, make_query, make_spec, make_widget

DEEP = CustomFeature(key="deep", label="Deep", state_on="Dig", state_off="Skim")
SURE = CustomFeature(key="sure", label="Sure", default=True)
TONE = CustomFeature(
    key="tone",
    label="Tone",
    type=CustomFeatureType.SELECT,
    default="short",
    options=(("Short", "short"), ("Long-winded", "long")),
)
VIEW = CustomFeature(key="view", label="View", type=CustomFeatureType.TEXT, default="")
SPEC = make_spec(custom_features=(DEEP, SURE, TONE, VIEW))


def filled(prompt, **changes):
    email = changes.pop("user_email", None)
    query = make_query(**changes)
    return fill(prompt, spec=SPEC, query=query, now=NOW, user_email=email)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("{{ copilot.name }}/{{copilot.slug}}", "Macro/macro"),
        ("{{ today }} {{ now }} {{ timezone }}", "2026-03-02 2026-03-02T09:30+00:00 UTC"),
        ("{{ user.email }}", "unknown"),
        ("{{ widgets.primary }}, {{ widgets.secondary }}", "none, none"),
        ("{{ options.deep }} {{ options.deep.state }}", "false Skim"),
        ("{{ options.sure }} {{ options.sure.state }}", "true on"),
        ("{{ options.tone }} {{ options.tone.state }}", "short Short"),
        ("{{ options.view }} {{ options.view.state }}", "unknown unknown"),
        ("{{ who.knows }} {{ }}", "unknown unknown"),
        ("{ single } {{ open", "{ single } {{ open"),
    ],
)
def test_absent_values_become_their_default_or_unknown(prompt, text):
    assert filled(prompt) == text


def test_values_of_the_client_are_filled_in():
    options = {"deep": True, "tone": "long", "view": "bullish"}
    prompt = (
        "{{options.deep}} {{options.deep.state}} {{options.tone}} {{options.tone.state}} "
        "{{options.view}} {{user.email}}"
    )
    assert filled(prompt, workspace_options=options, user_email="a@example.com") == (
        "true Dig long Long-winded bullish a@example.com"
    )


def test_date_is_that_of_the_users_time_zone():
    prompt = "{{ today }} {{ now }} {{ timezone }}"
    assert filled(prompt, timezone="Pacific/Kiritimati") == (
        "2026-03-02 2026-03-02T23:30+14:00 Pacific/Kiritimati"
    )


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "../../etc/passwd", "x\0y", "{{ now }}", "a" * 999]
)
def test_time_zone_that_does_not_exist_is_utc_and_not_quoted(name):
    assert filled("{{ timezone }}", timezone=name) == "UTC"


def test_names_of_widgets_are_listed():
    widgets = Widgets(
        primary=(make_widget(1), make_widget(2)), secondary=(make_widget(3, name="", uuid="u"),)
    )
    assert filled("{{ widgets.primary }}; {{ widgets.secondary }}", widgets=widgets) == (
        "Prices 1, Prices 2; u"
    )


def test_values_are_never_scanned_again():
    options = {"view": "{{ user.email }} {{ options.view }}"}
    assert filled("{{ options.view }}", workspace_options=options, user_email="a@b") == (
        "{{ user.email }} {{ options.view }}"
    )


def test_unknown_placeholders_are_named_once_and_in_order():
    prompt = "{{ b }} {{ copilot.name }} {{ a }} {{ b }} {{ options.tone }} {{ options.nope }}"
    assert unknown_placeholders(prompt, (TONE,)) == ("b", "a", "options.nope")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Write `{{{{ row.name }}`.", "Write `{{ row.name }}`."),
        ("{{{{ {{ options.tone }} }}", "{{ short }}"),
        ("\\frac{{{{a}}{{{{b}}", "\\frac{{a}}{{b}}"),
        ("`{{ options.tone }}`", "`short`"),
    ],
)
def test_two_braces_are_escaped_by_four(prompt, text):
    assert unknown_placeholders(prompt, (TONE,)) == ()
    assert find_unclosed(prompt) is None
    assert filled(prompt) == text


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("{{ x", " x"),
        ("{{ a }", " a }"),
        ("{{ now }} {{", ""),
        ("{{ a\n{{ now }}", " a\n{{ now }}"),
    ],
)
def test_an_opening_without_an_end_is_found(prompt, rest):
    assert find_unclosed(prompt) == rest
