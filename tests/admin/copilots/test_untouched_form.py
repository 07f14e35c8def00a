"""Saving an untouched form changes nothing, whatever an imported file had."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.test import Client
import pytest

from copilot_admin.copilots.config import CONFIG_FIELDS
from copilot_admin.import_export.importing import import_file, import_values
from copilot_admin.import_export.templates import make_copilot, templates
from copilot_admin.models import AuditEntry, Copilot
from copilot_admin.server.first_start import SAMPLES
from tests.admin.pages import submit, url_of
from tests.factories import make_provider

pytestmark = pytest.mark.django_db
ODD: dict[str, dict[str, Any]] = {
    "blanks": {"system_prompt": "\n  Hello  \n\n", "description": " a "},
    "carriage returns": {"system_prompt": "one\r\ntwo\rthree\n", "description": "a\r\nb"},
    "whole numbers": {"parameters": {"temperature": 1, "top_p": 1, "max_tokens": 10}},
    "parameters": {
        "parameters": {
            "stop": ["\n", "END"],
            "logit_bias": {"50256": -100},
            "seed": 0,
            "user": "",
            "flag": False,
            "text": " padded ",
            "number": 0.1,
            "reasoning_effort": "extreme",
            "null": None,
        }
    },
    "options": {
        "custom_features": [
            {
                "key": "tone",
                "label": " Tone ",
                "type": "select",
                "default": "b = c",
                "options": [{"label": "A", "value": "b = c"}, {"label": "D", "value": "d"}],
            },
            {"key": "on", "label": "On", "states": {"on": " yes ", "off": "off"}},
            {"key": "free", "label": "Free", "type": "text", "default": "  x"},
        ]
    },
    "steps": {
        "steps": [
            {"at": "end", "message": " Done ", "details": {"n": 1, "text": "1", "deep": {"a": []}}}
        ]
    },
    "context data": {
        "data": [
            {"kind": "a", "data": None, "schema": True},
            {"kind": "b", "data": {"z": 1.0, "a": "\u00e4"}, "instance": "x", "enabled": False},
        ]
    },
    "lists": {
        "starters": ["  Why?  ", "Why?"],
        "models": [{"id": " m ", "name": "M"}],
        "fallbacks": [{"model": "x", "provider": "P"}, {"model": "x"}],
        "components": ["calculator"],
        "client_call_limits": [],
        "max_data_tokens": 5000,
        "tools": ["table", "chart"],
    },
    "image": {"image": "https://example.com/a.png"},
    "switches": {
        "data_messages": {"merge": False, "widgets": True},
        "features": {"feedback": True, "file-upload": True},
        "show_steps": False,
        "citations": "off",
    },
}


def save_untouched(client: Client, copilot: Copilot) -> None:
    stored = Copilot.objects.get(pk=copilot.pk)
    before = {field.key: field.value_of(stored) for field in CONFIG_FIELDS}
    entries = AuditEntry.objects.count()
    url = url_of(copilot)
    response = submit(client, url, {}, form_id="copilot_form")
    form = (getattr(response, "context", None) or {}).get("adminform")
    assert not (form and form.form.errors), form and form.form.errors
    saved = Copilot.objects.get(pk=copilot.pk)
    assert {field.key: field.value_of(saved) for field in CONFIG_FIELDS} == before
    assert AuditEntry.objects.count() == entries
    assert not LogEntry.objects.exists()


def test_of_the_samples(builder: Client) -> None:
    import_file(SAMPLES.read_bytes(), default_access="key")
    for copilot in Copilot.objects.all():
        save_untouched(builder, copilot)


@pytest.mark.parametrize("slug", templates())
def test_of_a_template(builder: Client, slug: str) -> None:
    save_untouched(builder, make_copilot(templates()[slug], access="key"))


@pytest.mark.parametrize("name", ODD)
def test_of_odd_values(builder: Client, name: str) -> None:
    make_provider(name="P")
    entry = {"slug": "a", "name": "A", "provider": "P", "model": " m ", **ODD[name]}
    import_values({"format": 1, "copilots": [entry]}, default_access="key")
    save_untouched(builder, Copilot.objects.get())
