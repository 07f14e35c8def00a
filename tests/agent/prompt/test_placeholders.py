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


def filled(prompt, user_email=None, **changes):
    query = make_query(**changes)
    return fill(prompt, spec=SPEC, query=query, now=NOW, user_email=user_email)


KIRITIMATI = "2026-03-02 2026-03-02T23:30+14:00 Pacific/Kiritimati"
NAMED = Widgets(primary=(make_widget(1), make_widget(2)), secondary=(make_widget(3, name=""),))


@pytest.mark.parametrize(
    ("prompt", "changes", "text"),
    [
        ("{{ copilot.name }}/{{copilot.slug}}", {}, "Macro/macro"),
        ("{{ today }} {{ now }} {{ timezone }}", {}, "2026-03-02 2026-03-02T09:30+00:00 UTC"),
        ("{{ today }} {{ now }} {{ timezone }}", {"timezone": "Pacific/Kiritimati"}, KIRITIMATI),
        *(("{{ timezone }}", {"timezone": name}, "UTC")
          for name in ("Mars/Olympus", "../../etc/passwd", "x\0y", "{{ now }}", "a" * 999)),
        ("{{ user.email }}", {}, "unknown"),
        ("{{ user.email }}", {"user_email": "a@b.example"}, "a@b.example"),
        ("{{ widgets.primary }}, {{ widgets.secondary }}", {}, "none, none"),
        ("{{ widgets.primary }}; {{ widgets.secondary }}", {"widgets": NAMED},
         f"Prices 1, Prices 2; {make_widget(3).ref}"),
        ("{{ options.deep }} {{ options.deep.state }}", {}, "false Skim"),
        ("{{ options.sure }} {{ options.sure.state }}", {}, "true on"),
        ("{{ options.sure.state }}", {"env": {"workspace_options": {}}}, "off"),
        ("{{ options.tone }} {{ options.tone.state }}", {}, "short Short"),
        ("{{ options.tone.state }}", {"workspace_options": {"tone": "long"}}, "Long-winded"),
        ("{{ options.view }} {{ options.view.state }}", {}, "unknown unknown"),
        # Values are never scanned again.
        ("{{ options.view }}", {"workspace_options": {"view": "{{ now }}"}}, "{{ now }}"),
        ("{{ who.knows }} {{ }}", {}, "unknown unknown"),
        ("{ single } {{ open", {}, "{ single } {{ open"),
        ("Write `{{{{ row.name }}`.", {}, "Write `{{ row.name }}`."),
        ("{{{{ {{ options.tone }} }}", {}, "{{ short }}"),
        ("\\frac{{{{a}}{{{{b}}", {}, "\\frac{{a}}{{b}}"),
    ],
)  # fmt: skip
def test_values_of_the_client_or_their_defaults_are_filled_in(prompt, changes, text):
    assert filled(prompt, **changes) == text


def test_unknown_placeholders_are_named_once_and_in_order():
    prompt = (
        "{{ b }} {{ copilot.name }} {{ a }} {{ b }} {{{{ c }} {{ options.tone }} {{ options.x }}"
    )
    assert unknown_placeholders(prompt, (TONE,)) == ("b", "a", "options.x")


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("{{{{ x {{ now }}", None),
        ("{{ x", " x"),
        ("{{ a }", " a }"),
        ("{{ now }} {{", ""),
        ("{{ a\n{{ now }}", " a\n{{ now }}"),
    ],
)
def test_an_opening_without_an_end_is_found(prompt, rest):
    assert find_unclosed(prompt) == rest
