"""The environment is read by type, and a wrong value is one line that names its variable."""

from enum import StrEnum

import pytest

from copilot_admin.config.env import BadSetting, Environment


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


def test_text_is_stripped_and_empty_counts_as_absent():
    env = Environment({"A": " a ", "B": "  "})
    assert (env.text("A"), env.text("B", "default"), env.text("C")) == ("a", "default", "")


def test_bytes_that_are_no_utf_8_are_refused():
    with pytest.raises(BadSetting) as refused:
        Environment({"A": b"\xff\xfe".decode(errors="surrogateescape")}).secret("A")
    assert refused.value.sentence == "A has bytes that are no UTF-8. Write it anew in UTF-8."
    assert Environment({"A": "Zürich 😀"}).text("A") == "Zürich 😀"


def test_an_endless_value_is_not_repeated_whole():
    with pytest.raises(BadSetting) as refused:
        Environment({"A": "x" * 100_000}).flag("A")
    assert str(refused.value) == refused.value.sentence
    assert len(refused.value.sentence) == 803
    assert refused.value.sentence.startswith("A is 'xxx")
    assert refused.value.sentence.endswith("xxx'. Use true or false.")


def test_a_secret_comes_from_its_variable_or_its_file(tmp_path):
    file = tmp_path / "secret"
    file.write_text("from file\n")
    env = Environment({"A": "from variable", "B_FILE": str(file)})
    assert (env.secret("A"), env.secret("B"), env.secret("C")) == (
        "from variable",
        "from file",
        "",
    )


def test_a_secret_given_twice_is_refused():
    with pytest.raises(BadSetting, match=r"^A and A_FILE are both set\. Keep one of them\.$"):
        Environment({"A": "x", "A_FILE": "/nowhere"}).secret("A")


def test_a_secret_file_that_cannot_be_read_is_named_with_the_reason(tmp_path):
    missing = tmp_path / "missing"
    with pytest.raises(BadSetting) as refused:
        Environment({"A_FILE": str(missing)}).secret("A")
    assert refused.value.sentence == (
        f"A_FILE names the file {missing}, which cannot be read: No such file or directory."
    )


def test_a_secret_file_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "binary"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadSetting, match="which cannot be read: it is not text"):
        Environment({"A_FILE": str(file)}).secret("A")


def test_a_secret_file_that_is_empty_is_no_secret_that_is_absent(tmp_path):
    file = tmp_path / "empty"
    file.write_text(" \n")
    with pytest.raises(BadSetting) as refused:
        Environment({"A_FILE": str(file)}).secret("A")
    assert refused.value.sentence == (
        f"A_FILE names the file {file}, which is empty. Fill it, or leave the variable out."
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("1", True), ("True", True), ("on", True), ("no", False), ("0", False)]
)
def test_flags(text, expected):
    assert Environment({"A": text}).flag("A") is expected


def test_an_absent_flag_has_its_default():
    assert Environment({}).flag("A", default=True)


def test_a_flag_that_is_no_word_for_on_or_off_is_refused():
    with pytest.raises(BadSetting, match=r"^A is 'maybe'\. Use true or false\.$"):
        Environment({"A": "maybe"}).flag("A")


@pytest.mark.parametrize(("text", "expected"), [("", 5), ("1", 1), ("10", 10), ("2.5", 2.5)])
def test_numbers(text, expected):
    assert Environment({"A": text}).number("A", default=5, minimum=1, maximum=10) == expected


@pytest.mark.parametrize("text", ["0.9", "11", "many", "nan", "inf"])
def test_numbers_out_of_bounds_are_refused(text):
    with pytest.raises(BadSetting) as refused:
        Environment({"A": text}).number("A", default=5, minimum=1, maximum=10)
    assert refused.value.sentence == f"A is '{text}'. Use a number from 1 to 10."


@pytest.mark.parametrize(("text", "expected"), [("", 5), ("1", 1), (" 10 ", 10), ("2.0", 2)])
def test_whole_numbers(text, expected):
    number = Environment({"A": text}).whole_number("A", default=5, minimum=1, maximum=10)
    assert number == expected
    assert isinstance(number, int)


def test_a_fraction_of_what_is_counted_is_refused():
    with pytest.raises(BadSetting) as refused:
        Environment({"A": "2.5"}).whole_number("A", default=5, minimum=1, maximum=10)
    assert refused.value.sentence == "A is '2.5'. Use a whole number from 1 to 10."


def test_lists_are_separated_by_commas():
    env = Environment({"A": " a, b ,,c "})
    assert env.items("A") == env.secret_items("A") == ("a", "b", "c")
    assert env.items("B", default=("z",)) == ("z",)


def test_choices():
    env = Environment({"A": "large", "B": "huge"})
    assert env.choice("A", Size, default=Size.SMALL) is Size.LARGE
    assert env.choice("C", Size, default=Size.SMALL) is Size.SMALL
    with pytest.raises(BadSetting, match=r"^B is 'huge'\. Use small or large\.$"):
        env.choice("B", Size, default=Size.SMALL)
