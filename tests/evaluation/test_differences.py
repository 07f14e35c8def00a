"""Two texts become one text with marks, whatever they are."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.evaluation.differences import PartKind, TextPart, differences, shortened

MARKS = {
    PartKind.SAME: "{}",
    PartKind.GONE: "[-{}-]",
    PartKind.NEW: "{{+{}+}}",
    PartKind.LEFT_OUT: "<{}>",
}


def drawn(parts: tuple[TextPart, ...]) -> str:
    return "".join(MARKS[part.kind].format(part.text) for part in parts)


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("", "", ""),
        ("same", "same", "same"),
        ("", "new", "{+new+}"),
        ("gone", "", "[-gone-]"),
        ("Be a helpful analyst.", "Be a careful analyst.", "Be a [-helpful-]{+careful+} analyst."),
        ("a\nb\nc\n", "a\nc\n", "a\n[-b\n-]c\n"),
        ("a\nc\n", "a\nb\nc\n", "a\n{+b\n+}c\n"),
        ("one\ntwo\nsix\n", "one\n2\nsix\n", "one\n[-two-]{+2+}\nsix\n"),
        (
            "say it in words",
            "write down briefly in words",
            "[-say it-]{+write down briefly+} in words",
        ),
        ("你好世界", "你好新世界", "你好{+新+}世界"),
        ("a\nb", "a\nb\n", "a\nb{+\n+}"),
    ],
)
def test_what_went_and_what_came_is_marked_word_by_word(before, after, marked):
    assert drawn(differences(before, after)) == marked


@given(st.text("ab \n,"), st.text("ab \n,"))
def test_the_parts_give_both_texts(before, after):
    parts = differences(before, after)
    assert "".join(part.text for part in parts if part.kind is not PartKind.NEW) == before
    assert "".join(part.text for part in parts if part.kind is not PartKind.GONE) == after
    assert all(part.text for part in parts)
    assert all(one.kind is not two.kind for one, two in pairwise(parts))


def test_what_both_have_is_shown_beside_a_difference_alone():
    before, after = f"{'x ' * 10}one{' y' * 10}", f"{'x ' * 10}two{' y' * 10}"
    parts = shortened(differences(before, after), context=4)
    assert drawn(parts) == "<x x x x x x x x >x x [-one-]{+two+} y y< y y y y y y y y>"


def test_a_long_text_between_two_differences_is_left_out_in_its_middle():
    parts = (
        TextPart(PartKind.NEW, "a"),
        TextPart(PartKind.SAME, "0123456789"),
        TextPart(PartKind.NEW, "b"),
    )
    assert drawn(shortened(parts, context=3)) == "{+a+}012<3456>789{+b+}"
    assert shortened(parts, context=4) == parts
