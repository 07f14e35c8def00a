"""YAML is read without surprises and within bounds, and written so that others read it."""

import pytest
import yaml

from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.formats import (
    MAX_BYTES,
    MAX_CHARACTERS,
    MAX_DEPTH,
    load,
    write_yaml,
)


def _paths(text: str | bytes) -> list[str]:
    with pytest.raises(BadCopilotFile) as caught:
        load(text if isinstance(text, bytes) else text.encode())
    return [error.path for error in caught.value.errors]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("12:30", "12:30"),
        ("2024-01-31", "2024-01-31"),
        ("0x1f", "0x1f"),
        ("010", 10),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("", None),
        ("[What moved today?, b]", ["What moved today?", "b"]),
        ("{on: a, off: b}", {"on": "a", "off": "b"}),
        ('{"json": [1, true, null]}', {"json": [1, True, None]}),
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
        "2024-01-31",
        "a: b",
        "x\n  y\n",
        "€ \U0001f600",
        "<<",
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


def test_value_that_stands_twice_is_written_twice():
    row = {"a": 1}
    assert write_yaml({"b": row, "c": row}) == "b:\n  a: 1\nc:\n  a: 1\n"


def test_a_syntax_error_says_where():
    assert _paths("a: [1\nb: 2") == ["line 2, column 2"]
    assert _paths("a:\n\tb: 1") == ["line 2, column 1"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: &x [1]\nb: *x", "line 2, column 4"),  # no short text grows large
        ("a: !!str 12", "line 1, column 4"),
        ("a: 1\na: 2", "line 2, column 1"),
        ("a: 1\n<<: {b: 2}\n<<: 3", "line 3, column 1"),
        ("a: 1\n2: b", "line 2, column 1"),
        ("a\n--- b", "line 2, column 1"),
    ],
)
def test_anything_but_plain_values_is_rejected_with_its_place(text, place):
    assert _paths(text) == [place]


def test_too_many_levels_are_caught():
    assert _paths("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert load(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


def test_a_text_that_takes_long_to_read_is_rejected():
    assert _paths("a" * (MAX_CHARACTERS + 1)) == [""]


@pytest.mark.parametrize("text", ['a: ["\\0"]', '"\\0": 1', 'a: {b: "x\\0"}'])
def test_what_cannot_be_stored_is_caught(text):
    assert _paths(text)


@pytest.mark.parametrize("data", [b"\xff\xfe", b" " * (MAX_BYTES + 1)])
def test_a_file_that_is_too_large_or_not_text_is_rejected(data):
    assert _paths(data) == [""]


@pytest.mark.parametrize("text", ["1e999", "9" * 5000, ".inf", "-.Inf", "+.INF", ".nan", ".NAN"])
def test_a_number_that_is_not_finite_is_rejected(text):
    assert _paths(f"a: {text}\nb: [c, {text}]\nd: '{text}'") == ["a", "b[1]"]
