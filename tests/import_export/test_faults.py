"""Every fault of a copilot file is told with its path, and with what would be right."""

from typing import Any

from pydantic import ValidationError
import pytest

from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.providers.registry import provider_kinds
from copilot_admin.agent.tools.registry import tool_names
from copilot_admin.import_export.faults import BadCopilotFile, path_of
from copilot_admin.import_export.schema import CopilotEntry, CopilotFile
from copilot_admin.import_export.validation import faults_of, validate
from protocol.features import FEATURES
from tests.import_export.small_files import SMALLEST, faults_of_copilot

KINDS = [kind for kind, _ in provider_kinds()]


def _provider_faults(**changes: Any) -> list[str]:
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, "providers": [{"name": "P", "kind": "rehearsal", **changes}]})
    return [str(fault) for fault in refused.value.faults]


def test_all_faults_are_told_not_only_the_first():
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 2, "providers": [{"kind": "x"}], "copilots": [{"slug": "A"}]})
    assert refused.value.public.splitlines() == [
        "format: the file is of format 2, which a newer release wrote; this one reads format 1. "
        "Upgrade this server, or export the copilots from one as old as it.",
        "providers[0].name: is missing.",
        f"providers[0].kind: there is no kind 'x'. Use one of: {', '.join(KINDS)}.",
        "copilots[0].slug: 'A' does not fit. Use lower-case letters and digits, with single "
        "hyphens between: news-reader.",
        "copilots[0].name: is missing.",
        "copilots[0].provider: is missing.",
        "copilots[0].model: is missing.",
    ]


def test_every_fault_is_said_in_the_language_of_the_page(monkeypatch):
    """As if there were another language, in which every sentence has marks around it."""
    places = "django.utils.translation._trans."
    marked, counted = (
        lambda text: f"«{text}»",
        lambda one, many, n: f"«{many if n - 1 else one}»",
    )
    monkeypatch.setattr(f"{places}gettext", marked, raising=False)
    monkeypatch.setattr(f"{places}ngettext", counted, raising=False)
    faults = [
        *faults_of_copilot(
            slug="A B",
            name="x" * 101,
            enabled="yes",
            starters={},
            widget_data="fech",
            api_key="sk",
            nmae="x",
            zzzzzz=1,
            parameters={"max-tokens": 3},
        ),
        *_provider_faults(timeout_s={"total": 0}),
    ]
    assert len(faults) == 10
    assert [one for one in faults if not one.partition(": ")[2].startswith("«")] == []
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 2, "copilots": [{}]})
    assert {one.sentence[0] for one in refused.value.faults} == {"«"}


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_a_file_that_is_no_group_of_keys_is_refused(value):
    with pytest.raises(BadCopilotFile, match=r"^this is no copilot file\. One begins with"):
        validate(value)


def test_a_key_that_is_like_no_other_is_told_all_there_are():
    """`temperature` is a parameter; `features`, which looks a little like it, would be no help."""
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, "copilots": [{"temperature": 1}]})
    (sentence,) = [str(one) for one in refused.value.faults if one.path.endswith("temperature")]
    assert sentence.startswith("copilots[0].temperature: there is no such key. The keys are: ")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"modle": "x"}, "modle: there is no such key. Did you mean 'model'?"),
        ({"promt": "x"}, "promt: there is no such key. Did you mean 'system_prompt'?"),
        (
            {"client_call_limits": [{"function": "telepathy", "most": 1}]},
            "client_call_limits[0].function: Workspace has no function 'telepathy'. Use one of: "
            + ", ".join(labels())
            + ".",
        ),
        (
            {"client_call_limits": [{"function": "save_skill", "most": 1}] * 2},
            "client_call_limits: the function 'save_skill' is given twice. Keep one.",
        ),
        (
            {"api_key": "sk"},
            "api_key: a file never holds a secret. Name a variable with api_key_env.",
        ),
        ({"name": ""}, "name: must not be empty."),
        ({"name": " "}, "name: ' ' does not fit. It must not be blank."),
        ({"name": "x" * 101}, "name: is too long: 100 characters are the most."),
        ({"name": 3}, "name: must be text. Put it in quotes."),
        ({"enabled": "yes"}, "enabled: must be true or false."),
        ({"starters": "x"}, "starters: must be a list."),
        (
            {"html_sources": ["https://a.example", "https://a.example"]},
            "html_sources: the address 'https://a.example' is given twice. Keep one.",
        ),
        *(
            (
                {"html_sources": [source]},
                "html_sources[0]: an address is https:// and a host in small letters, without a "
                "path, such as https://charts.example.com.",
            )
            for source in (
                "",
                "http://a.example",
                "https://",
                "https://a.example/",
                "https://a.example/x",
                "https://*.example",
                "https://A.example",
                "https://a@b.example",
                "https://a.example:0",
                "https://a.example:",
                "https://a.example:65536",
                "https://a..example",
                "https://a.example ",
                "*",
            )
        ),
        ({"parameters": []}, "parameters: must be a group of keys and values."),
        (
            {"parameters": {"stream": False}},
            "parameters.stream: the parameter 'stream' is set by the server. Take it out.",
        ),
        (
            {"widget_data": "fech"},
            "widget_data: 'fech' is not possible. Use 'fetch', 'ask' or 'off'.",
        ),
        (
            {"parameters": {"max-tokens": 3}},
            "parameters.max-tokens: 'max-tokens' does not fit. "
            "Use letters, digits and underscores: max_tokens.",
        ),
        (
            {"image": "ftp://x/y.png"},
            "image: an image is an address that begins with https://, or data:image/png;base64,…",
        ),
        (
            {"image": "https://" + "x" * 2000},
            "image: an image address has 2000 characters at most.",
        ),
        (
            {"tools": ["magic"]},
            f"tools: there is no tool 'magic'. Use one of: {', '.join(tool_names())}.",
        ),
        ({"tools": ["table", "table"]}, "tools: the tool 'table' is given twice. Keep one."),
        ({"models": [{"id": "a"}, {"id": "a"}]}, "models: the model 'a' is given twice. Keep one."),
        (
            {"features": {"telepathy": True}},
            "features.telepathy: there is no such key. The keys are: "
            f"{', '.join(('streaming', *(feature.key for feature in FEATURES)))}.",
        ),
        (
            {"features": {"streaming": False}},
            "features.streaming: is always true. Leave the key out.",
        ),
        (
            {"steps": [{"at": "end", "message": "x", "type": "ERROR"}]},
            "steps[0].type: 'ERROR' is not possible. Use 'INFO' or 'WARNING'.",
        ),
        ({"retention_days": 0.5}, "retention_days: must be a whole number."),
        (
            {"redacted_expressions": ["x*"]},
            "redacted_expressions[0]: It also matches an empty text, so it would be found everywhere.",
        ),
    ],
)
def test_a_fault_has_its_path_and_says_what_is_right(changes, fault):
    assert faults_of_copilot(**changes) == [f"copilots[0].{fault}"]


ODD_VALUES: tuple[object, ...] = (
    None,
    True,
    "",
    " ",
    "x" * 5000,
    -1,
    0,
    1.5,
    10**30,
    [1],
    [{}],
    ["x"] * 1001,
    {},
    {"x": 1},
)


@pytest.mark.parametrize("odd", ODD_VALUES, ids=lambda odd: repr(odd)[:12])
def test_no_fault_is_told_in_the_words_of_a_library(odd):
    told: list[str] = []
    for key in CopilotEntry.model_fields:
        limits = {"limits": {"requests_per_day": odd, "usd_per_day": odd}}
        for row in ({key: odd}, {key: [odd]}, limits):
            try:
                CopilotFile.model_validate({"format": 1, "copilots": [{**SMALLEST, **row}]})
            except ValidationError as error:
                for one, fault in zip(error.errors(), faults_of(error, CopilotFile), strict=True):
                    if one["type"] != "fault" and one["msg"] in fault.sentence:
                        told.append(str(fault))
    assert told == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"api_key": "sk"},
            "api_key: a file never holds a secret. Name a variable with api_key_env.",
        ),
        (
            {"api_key_env": "SECRET_KEY"},
            "api_key_env: SECRET_KEY is no variable of keys. Use one of: COPILOT_KEY_..., OPENAI_API_KEY.",
        ),
        (
            {"api_key_env": "not a name"},
            "api_key_env: 'not a name' does not fit. Use the name of an environment variable: "
            "COPILOT_KEY_LOCAL.",
        ),
        (
            {"base_url": "nowhere"},
            "base_url: The provider's address 'nowhere' is no URL. "
            "Enter one like https://api.example.com/v1.",
        ),
        (
            {"timeout_s": {"conect": 1}},
            "timeout_s.conect: there is no such key. Did you mean 'connect'?",
        ),
        (
            {"timeout_s": {"total": 0}},
            "timeout_s.total: 0 is too little: more than 0 is needed.",
        ),
        ({"timeout_s": {"total": "x"}}, "timeout_s.total: must be a number."),
    ],
)
def test_a_provider_has_a_path_too(changes, fault):
    assert _provider_faults(**changes) == [f"providers[0].{fault}"]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            {"copilots": [SMALLEST, {**SMALLEST, "name": "B"}]},
            "copilots: the slug 'a' is given twice.",
        ),
        (
            {"copilots": [SMALLEST, {**SMALLEST, "slug": "b", "name": "a"}]},
            "copilots: the copilot name 'a' is given twice.",
        ),
        (
            {"providers": [{"name": "P", "kind": "rehearsal"}, {"name": "p", "kind": "rehearsal"}]},
            "providers: the provider name 'p' is given twice.",
        ),
    ],
)
def test_names_and_slugs_are_unique_in_a_file(value, sentence):
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, **value})
    assert refused.value.public == f"{sentence} Keep one."


def test_a_long_wrong_value_is_shortened():
    assert len(faults_of_copilot(widget_data="x" * 1000)[0]) < 200


def test_paths_are_written_as_people_write_them():
    assert path_of(["copilots", 0, "features", "x-y"]) == "copilots[0].features.x-y"
