"""YAML is read without surprises and within bounds, and written so that others read it."""

import pytest
import yaml

from copilot_admin.import_export.faults import BadCopilotFile
from copilot_admin.import_export.loading import MOST_BYTES, load
from copilot_admin.import_export.yaml_reading import MAX_CHARACTERS, MAX_DEPTH
from copilot_admin.import_export.yaml_writing import write_yaml


def _faults(text: str | bytes) -> list[str]:
    with pytest.raises(BadCopilotFile) as refused:
        load(text if isinstance(text, bytes) else text.encode())
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
    assert _faults("a: [1\nb: 2")[0].startswith("line 2, column 2: ")
    assert _faults("a:\n\tb: 1")[0].startswith("line 2, column 1: ")


def test_aliases_are_refused_so_that_no_short_text_grows_large():
    assert _faults("a: &x [1]\nb: *x")[0].endswith("aliases are not accepted, write the value out.")


def test_an_anchor_alone_is_harmless_even_twice():
    assert load(b"a: &x 1\nb: &x 2") == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: !!str 12", "line 1, column 4: tags are not accepted, put text in quotes."),
        ("a: !!set {x}", "line 1, column 4: tags are not accepted, put text in quotes."),
        ("a: 1\n<<: {b: 2}\n<<: 3", "line 3, column 1: the key '<<' is given twice."),
        ("a: 1\n2: b", "line 2, column 1: a key must be text, put it in quotes."),
        ("a\n--- b", "line 2, column 1: there is more than one document in the file."),
    ],
)
def test_what_is_more_than_plain_values_is_refused_with_its_place(text, fault):
    place, sentence = fault.split(": ")
    assert _faults(text)[0].startswith(place)
    assert _faults(text)[0].endswith(sentence)


def test_too_many_levels_are_refused():
    assert "levels" in _faults("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))[0]
    assert load(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


def test_a_text_that_would_be_read_for_minutes_is_refused():
    assert _faults("a" * (MAX_CHARACTERS + 1))[0].startswith("YAML may have 5000000 characters.")


def test_a_key_given_twice_is_refused():
    assert "twice" in _faults("a: 1\na: 2")[0]


@pytest.mark.parametrize(
    "text",
    [
        "1: a",
        "!!python/object/apply:os.system [ls]",
        "? [a]\n: b",
        "a: \x07",
        '"\\UFFFFFFFF"',
        "a\n--- b",
        "{",
        "%",
    ],
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


@pytest.mark.parametrize("text", ["1e999", "9" * 5000, ".inf", "-.Inf", "+.INF"])
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
