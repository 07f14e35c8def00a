"""Copilot files are read without surprises, and every fault is told with its path."""

from typing import Any

from pydantic import ValidationError
import pytest
import yaml

from copilot_admin.copilot_file import yaml_reading, yaml_writing
from copilot_admin.copilot_file.faults import BadCopilotFile, path_of
from copilot_admin.copilot_file.loading import MOST_BYTES, load
from copilot_admin.copilot_file.schema import CopilotEntry, CopilotFile
from copilot_admin.copilot_file.validation import faults_of, validate
from copilot_admin.copilot_file.yaml_reading import (
    MOST_CHARACTERS,
    MOST_DEPTH,
    MOST_LINES,
    read_yaml,
)
from copilot_admin.copilot_file.yaml_writing import is_readable_as_yaml, write_yaml
from copilot_admin.engine.client_functions.registry import labels
from copilot_admin.engine.providers.registry import provider_kinds
from copilot_admin.engine.tools.registry import tool_names
from copilot_admin.engine.values.spec import CitationMode, StepPlace, WidgetDataMode
from copilot_admin.models import Access, Logging
from protocol.events import StatusLevel
from protocol.features import FEATURE_KEYS, FEATURES, CustomFeatureType

KINDS = [kind for kind, _ in provider_kinds()]
SMALLEST: dict[str, Any] = {"slug": "a", "name": "A", "provider": "P", "model": "m"}
FEW_VALUES = 2_000


@pytest.fixture
def _few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most that is read is so little that it is read at once."""
    for module in (yaml_reading, yaml_writing):
        monkeypatch.setattr(module, "MOST_VALUES", FEW_VALUES)


def _faults(text: str | bytes) -> list[str]:
    with pytest.raises(BadCopilotFile) as refused:
        load(text if isinstance(text, bytes) else text.encode())
    return [str(fault) for fault in refused.value.faults]


def _faults_of(**changes: Any) -> list[str]:
    """The faults of a file with one copilot, whose entry is changed."""
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, "copilots": [{**SMALLEST, **changes}]})
    return [str(fault) for fault in refused.value.faults]


def _provider_faults(**changes: Any) -> list[str]:
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, "providers": [{"name": "P", "kind": "rehearsal", **changes}]})
    return [str(fault) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("2024-01-31", "2024-01-31"),
        ("0x1f", "0x1f"),
        ("010", 10),
        ("1e3", 1000.0),
        ("-0.5", -0.5),
        ("true", True),
        ("null", None),
        ("", None),
        ("[What moved today?, b]", ["What moved today?", "b"]),
        ("{on: a, off: b}", {"on": "a", "off": "b"}),
        ('{"json": [1, true, null]}', {"json": [1, True, None]}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_plain_values_mean_what_they_say(text, value):
    assert load(text.encode()) == value


@pytest.mark.parametrize(
    "value",
    [
        "off",
        "1e3",
        "010",
        "12:30",
        "2024-01-31",
        "~",
        "a: b",
        "x\n  y\n",
        "€ \U0001f600",
        "a ",
        "?",
        ".5e3",
        "<<",
        "'",
        "x \ny",
        "x\ty\n",
        "\n x",
        "a\x85b\u2028c\n",
        "\ufeff",
        "a long line of text " * 20,
        1e-05,
        1e17,
        0.5,
        {"a\nb": [], "": {}},
    ],
)
def test_what_is_written_is_read_back_by_us_and_by_older_yaml(value):
    text = write_yaml({"k": value})
    assert load(text.encode()) == {"k": value}
    assert yaml.safe_load(text) == {"k": value}


def test_texts_of_several_lines_stay_readable():
    assert write_yaml({"prompt": "one\ntwo\n"}) == "prompt: |\n  one\n  two\n"


def test_a_long_line_is_not_broken():
    line = "word " * 50 + "end"
    assert write_yaml({"description": line}) == f"description: {line}\n"


def test_value_that_stands_twice_is_written_twice():
    row = {"a": 1}
    assert write_yaml({"b": row, "c": row}) == "b:\n  a: 1\nc:\n  a: 1\n"


def test_a_syntax_error_says_where():
    assert _faults("a: [1\nb: 2") == [
        "line 2, column 2: this cannot be read as YAML: expected ',' or ']', but got ':'."
    ]
    assert _faults("a:\n\tb: 1") == [
        "line 2, column 1: there is a tab. YAML is indented with blanks."
    ]


def test_aliases_are_refused_so_that_no_short_text_grows_large():
    assert _faults("a: &x [1]\nb: *x")[0].endswith("aliases are not accepted: write the value out.")


def test_an_anchor_alone_is_harmless_even_twice():
    assert load(b"a: &x 1\nb: &x 2") == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: !!str 12", "line 1, column 4: tags are not accepted: put text in quotes."),
        ("a: !!set {x}", "line 1, column 4: tags are not accepted: put text in quotes."),
        ("a: 1\n<<: {b: 2}\n<<: 3", "line 3, column 1: the key '<<' is given twice."),
        ("a: 1\n2: b", "line 2, column 1: a key must be text: put it in quotes."),
        ("a\n--- b", "line 2, column 1: there is more than one document in the file."),
        ('a: "\\UFFFFFFFF"', "line 1, column 7: an escape in quotes is no character."),
        ('a: "\\U00110000"', "line 1, column 7: an escape in quotes is no character."),
        (
            f"a: 1\nb: -{'9' * 4301}",
            "line 2, column 4: the number has too many digits: put it in quotes.",
        ),
        (f"a: {'9' * 309}", "line 1, column 4: the number has too many digits: put it in quotes."),
    ],
)
def test_what_is_more_than_plain_values_is_refused_with_its_place(text, fault):
    assert _faults(text)[0].startswith(fault)


def test_too_many_levels_are_refused():
    assert "levels" in _faults("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1))[0]
    assert load(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "[" + "a," * FEW_VALUES + "]",
            f"line 1, column {2 * FEW_VALUES - 2}: there are more than {FEW_VALUES} keys and values. "
            "Split the file, or write it as JSON.",
        ),
        (
            "a: |\n" + "\r" * MOST_LINES,
            f"YAML may have {MOST_LINES} lines; these are {MOST_LINES + 2}. "
            "Split the file, or write it as JSON.",
        ),
        (
            "a" * (MOST_CHARACTERS + 1),
            f"YAML may have {MOST_CHARACTERS} characters; these are {MOST_CHARACTERS + 1}. "
            "Split the file, or write it as JSON.",
        ),
    ],
)
@pytest.mark.usefixtures("_few_values")
def test_yaml_that_would_be_read_for_minutes_is_refused(text, fault):
    assert _faults(text) == [fault]


def test_long_tag_is_refused_where_it_begins():
    assert _faults("a: " + "!" * 1_000_000) == [
        "line 1, column 4: tags are not accepted: put text in quotes."
    ]


@pytest.mark.parametrize("text", ["a: 1\na: 2", '{"a": 1, "a": 2}'])
def test_a_key_given_twice_is_refused(text):
    assert "twice" in _faults(text)[0]


@pytest.mark.parametrize(
    "text",
    ["1: a", "!!python/object/apply:os.system [ls]", "? [a]\n: b", "a: \x07", "a\n--- b", "{", "%"],
)
def test_what_is_no_plain_document_is_refused(text):
    assert _faults(text)


@pytest.mark.parametrize("text", ['a: ["\\0"]', '"\\0": 1', 'a: {b: "x\\0"}'])
def test_what_cannot_be_stored_is_refused(text):
    assert _faults(text)[0].endswith("holds characters that cannot be stored.")


def test_bytes_that_are_no_text_are_refused():
    assert _faults(b"\xff\xfe") == ["The file is not UTF-8 (byte 0). Save it as UTF-8."]


def test_a_file_that_is_too_big_is_refused():
    assert _faults(b" " * (MOST_BYTES + 1)) == ["The file is too big: 10 MB are the most."]


@pytest.mark.parametrize("text", ["1e999", ".inf", "-.Inf", "+.INF"])
def test_a_number_without_an_end_is_refused(text):
    """In YAML's own words it was read as a text."""
    told = "is a number without an end. Write another, or put the text in quotes."
    assert _faults(f"a: {text}\nb: [c, {text}]\nd: '{text}'") == [f"a: {told}", f"b[1]: {told}"]


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_what_yaml_writes_for_no_number_is_refused(text):
    told = "is no number. Write one, or put the text in quotes."
    assert _faults(f"a: {text}\nb: '{text}'") == [f"a: {told}"]


@pytest.mark.parametrize("text", ["nan", "inf", ".Nan", "-.nan", ".infinity", "a .nan"])
def test_what_only_looks_like_one_is_text(text):
    assert load(f"a: {text}".encode()) == {"a": text}


@pytest.mark.parametrize(
    ("written", "shown"), [("true", "true"), ("1.0", "1.0"), ("'1'", "'1'"), ("null", "null")]
)
def test_the_number_of_the_format_is_a_whole_number(written, shown):
    """What equals one was taken for it."""
    with pytest.raises(BadCopilotFile) as refused:
        validate(load(f"format: {written}\ncopilots: []".encode()))
    assert str(refused.value) == f"format: {shown} is not possible. Write format: 1."


def test_the_choices_of_the_file_are_those_of_the_engine_and_the_models():
    fields = CopilotEntry.model_json_schema()
    properties, parts = fields["properties"], fields["$defs"]

    assert set(properties["widget_data"]["enum"]) == set(WidgetDataMode)
    assert set(properties["citations"]["enum"]) == {*CitationMode, "documents"}
    assert set(properties["logging"]["enum"]) == set(Logging.values)
    assert set(properties["access"]["anyOf"][0]["enum"]) == set(Access.values)
    assert set(parts["StepEntry"]["properties"]["at"]["enum"]) == set(StepPlace)
    assert set(parts["StepEntry"]["properties"]["type"]["enum"]) == set(StatusLevel)
    assert set(parts["CustomFeatureEntry"]["properties"]["type"]["enum"]) == set(CustomFeatureType)
    assert set(parts["FeaturesEntry"]["properties"]) == {
        "streaming",
        *FEATURE_KEYS,
    }


def test_absent_keys_have_the_documented_defaults():
    entry = validate({"format": 1, "copilots": [SMALLEST]}).copilots[0]
    wanted = {
        "name": "A",
        "description": "",
        "image": "",
        "system_prompt": "",
        "provider": "P",
        "model": "m",
        "models": [],
        "parameters": {},
        "widget_data": "ask",
        "features": {feature.key: feature.default for feature in FEATURES},
        "custom_features": [],
        "tools": [],
        "html_sources": [],
        "components": [],
        "stream_all_text": False,
        "citations": "widgets",
        "images": False,
        "read_links": True,
        "show_steps": True,
        "reasoning_steps": False,
        "max_data_tokens": None,
        "max_client_calls": 16,
        "client_call_limits": [{"function": "get_widget_data", "most": 4}],
        "steps": [],
        "starters": [],
        "data": [],
        "data_messages": {},
    }
    assert entry.document() | wanted == entry.document()  # which may have fields that are newer
    assert (entry.enabled, entry.access, entry.logging) == (True, None, "everything")


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
        *_faults_of(
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
            "redacted_expressions[0]: It finds nothing as well: every text would be full of it.",
        ),
    ],
)
def test_a_fault_has_its_path_and_says_what_is_right(changes, fault):
    assert _faults_of(**changes) == [f"copilots[0].{fault}"]


@pytest.mark.parametrize(
    ("written", "row"),
    [
        ("calculator@v1", {"name": "calculator", "version": "v1"}),
        ("calculator", {"name": "calculator", "version": "latest"}),
        ({"name": "calculator", "version": "1"}, {"name": "calculator", "version": "1"}),
        (
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
        ),
    ],
)
def test_a_component_is_named_in_short_or_at_length(written, row):
    values = {"format": 1, "copilots": [{**SMALLEST, "components": [written]}]}
    assert validate(values).copilots[0].document()["components"] == [row]


@pytest.mark.parametrize(
    ("components", "fault"),
    [
        (["abacus@v1"], "components[0]: there is no component 'abacus'. Use one of: "),
        (["calculator@v9"], "components[0]: 'calculator' has no version 'v9'. Use one of: v1, "),
        (["calculator", "calculator@v1"], "components: the component 'calculator' "),
        ([3], "components[0]: "),
    ],
)
def test_a_component_that_is_not_there_is_refused_with_those_there_are(components, fault):
    (found,) = _faults_of(components=components)
    assert found.startswith(f"copilots[0].{fault}"), found


def test_switches_that_are_not_built_may_be_off():
    off: dict[str, Any] = {
        "features": {"streaming": True},
        "components": [],
        "data": [],
        "data_messages": {"widgets": False},
        "limits": {},
        "retention_days": None,
    }
    plain = validate({"format": 1, "copilots": [SMALLEST]})
    assert validate({"format": 1, "copilots": [{**SMALLEST, **off}]}) == plain


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ({"key": "feedback"}, "the key 'feedback' belongs to Workspace. Choose another."),
        ({"default": "x"}, "the default of a toggle is true or false."),
        ({"options": [{"label": "a", "value": "a"}]}, "a toggle has no options. Leave them out."),
        ({"type": "text", "states": {}}, "a text has no states. Leave them out."),
        (
            {"type": "text", "model": "m"},
            "a text has no model. Leave it out, or make it a toggle.",
        ),
        ({"type": "text", "default": True}, "the default of a text is text. Put it in quotes."),
        ({"type": "select"}, "a select needs options. List at least one."),
        ({"type": "select", "default": "a"}, "a select needs options. List at least one."),
        (
            {"type": "select", "default": "b", "options": [{"label": "A", "value": "a"}]},
            "the default is no option. Use one of: a.",
        ),
        (
            {
                "type": "select",
                "default": "a",
                "options": [{"label": "A", "value": "a"}, {"label": "B", "value": "a"}],
            },
            "the option value 'a' is given twice. Keep one.",
        ),
    ],
)
def test_a_custom_feature_fits_its_type(feature, sentence):
    row = {"key": "k", "label": "K", **feature}
    assert _faults_of(custom_features=[row]) == [f"copilots[0].custom_features[0]: {sentence}"]


def test_a_custom_feature_keeps_only_what_its_type_has():
    rows = [
        {"key": "a", "label": "A"},
        {"key": "b", "label": "B", "default": True, "states": {"on": "yes"}, "description": "d"},
        {"key": "c", "label": "C", "type": "select", "options": [{"label": "X", "value": "x"}]},
        {"key": "d", "label": "D", "type": "text", "placeholder": "p"},
    ]
    entry = validate({"format": 1, "copilots": [{**SMALLEST, "custom_features": rows}]})
    assert [feature.row() for feature in entry.copilots[0].custom_features] == [
        {"key": "a", "label": "A", "type": "toggle", "default": False},
        {
            "key": "b",
            "label": "B",
            "type": "toggle",
            "default": True,
            "states": {"on": "yes", "off": "off"},
            "description": "d",
        },
        {
            "key": "c",
            "label": "C",
            "type": "select",
            "options": [{"label": "X", "value": "x"}],
            "default": "x",
        },
        {"key": "d", "label": "D", "type": "text", "default": "", "placeholder": "p"},
    ]


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ({"expect": {"number": "106"}}, "expect.number: must be a number."),
        ({"expect": {"number": True}}, "expect.number: must be a number."),
        ({"expect": {"number": 1, "tolerance": -1}}, "expect.tolerance: must be 0 or more."),
        (
            {"expect": {"calls": " "}},
            "expect.calls: ' ' does not fit. It must not be blank.",
        ),
        ({"options": {"tone": 1}}, "options.tone: must be true, false or text."),
        (
            {"files": [{"id": "report", "name": "a.txt", "content": ""}]},
            "files[0].id: 'report' does not fit. Begin with file-: file-report.",
        ),
    ],
)
def test_a_saved_question_has_one_sentence_for_each_fault(question, fault):
    row = {"question": "What?", **question}
    assert _faults_of(questions=[row]) == [f"copilots[0].questions[0].{fault}"]


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
    assert len(_faults_of(widget_data="x" * 1000)[0]) < 200


def test_paths_are_written_as_people_write_them():
    assert path_of(["copilots", 0, "features", "x-y"]) == "copilots[0].features.x-y"


NOTE = {"kind": "user", "data": {"age": 30}, "schema": {"type": "object"}}


def test_data_notes_and_their_switches_are_taken_over():
    entry = validate(
        {
            "format": 1,
            "copilots": [
                {
                    **SMALLEST,
                    "data": [
                        {**NOTE, "instance": "a", "description": "Who asks.", "enabled": False},
                        {"data": None},
                        {"kind": "state", "schema": True},
                    ],
                    "data_messages": {"widgets": True, "merge": False, "context": False},
                }
            ],
        }
    ).copilots[0]

    assert entry.document()["data"] == [
        {**NOTE, "instance": "a", "description": "Who asks.", "enabled": False},
        {"kind": "data", "data": None},
        {"kind": "state", "schema": True},
    ]
    assert entry.document()["data_messages"] == {"widgets": True, "merge": False}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"data": [NOTE, {**NOTE, "kind": "a b"}]},
            "data[1].kind: 'a b' does not fit. "
            "Begin with a letter, then letters, digits, '.', '-' and '_': house-rules.",
        ),
        (
            {"data": [{"instance": "a\nb"}]},
            "data[0].instance: 'a\\nb' does not fit. Write it on one line.",
        ),
        (
            {"data": [{"schema": {"properties": {"age": {"type": 5}}}}]},
            "data[0].schema: is no JSON Schema: $.properties.age.type: "
            "5 is not valid under any of the given schemas",
        ),
        (
            {"data": [{"schema": {"$ref": "http://10.0.0.1/x"}}]},
            "data[0].schema: is no JSON Schema: $: "
            "the reference 'http://10.0.0.1/x' leads outside the schema.",
        ),
        ({"data_messages": {"widgets": "yes"}}, "data_messages.widgets: must be true or false."),
    ],
)
def test_a_faulty_note_is_told_with_its_path(changes, fault):
    assert _faults_of(**changes) == [f"copilots[0].{fault}"]


@pytest.mark.parametrize("entries", [498, 499])
@pytest.mark.usefixtures("_few_values")
def test_what_is_too_much_yaml_is_known_before_it_is_written(entries):
    value = {"a": [{"b": None}] * entries}
    text = "a:\n" + "- b:\n" * entries
    try:
        read_yaml(text)
    except BadCopilotFile:
        assert not is_readable_as_yaml(value)
    else:
        assert is_readable_as_yaml(value)
