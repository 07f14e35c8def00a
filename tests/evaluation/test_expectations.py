"""An answer is looked at in the way that its question asks for, and the verdict says why."""

import pytest

from copilot_admin.copilots.questions.expectation import Expectation, ExpectationKind
from copilot_admin.evaluation.expectations import (
    AnswerVerdict,
    GivenAnswer,
    verdict_of_judge,
    verdict_on,
)
from copilot_admin.models import Judgement

YES, NO = Judgement.AS_EXPECTED, Judgement.NOT_AS_EXPECTED


def verdict(kind: ExpectationKind, answer: GivenAnswer, **fields: object) -> AnswerVerdict | None:
    return verdict_on(Expectation(kind=kind, **fields), answer)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            ExpectationKind.CONTAINS,
            "NET\n income",
            AnswerVerdict(YES, "The answer has these words."),
        ),
        (ExpectationKind.CONTAINS, "loss", AnswerVerdict(NO, "The answer lacks these words.")),
        (ExpectationKind.LACKS, "loss", AnswerVerdict(YES, "The answer lacks these words.")),
        (ExpectationKind.LACKS, "income grew", AnswerVerdict(NO, "The answer has these words.")),
    ],
)
def test_words_are_found_in_any_case_and_over_lines(kind, text, expected):
    assert verdict(kind, GivenAnswer(text="Net income\ngrew."), text=text) == expected


def test_a_number_counts_within_its_tolerance():
    answer = GivenAnswer(text="It rose by 12.4 % to 1,011.9.")
    number = ExpectationKind.NUMBER
    has = AnswerVerdict(YES, "The answer has the number.")
    assert verdict(number, answer, number=12.5, tolerance=0.1) == has
    assert verdict(number, answer, number=0.124) == has
    assert verdict(number, answer, number=1011.9) == has
    assert verdict(number, answer, number=1012) == AnswerVerdict(
        NO, "The answer lacks the number. Its numbers: 12.4, 1011.9."
    )


def test_an_answer_without_numbers_says_so_and_one_with_many_names_some():
    assert verdict(ExpectationKind.NUMBER, GivenAnswer(text="None."), number=1) == AnswerVerdict(
        NO, "The answer lacks the number. Its numbers: none."
    )
    many = GivenAnswer(text=" ".join(map(str, range(1, 20))))
    assert verdict(ExpectationKind.NUMBER, many, number=99) == AnswerVerdict(
        NO, "The answer lacks the number. Its numbers: 1, 2, 3, 4, 5, 6, 7, 8, …."
    )


def test_sources_and_functions_are_looked_up_by_their_names():
    answer = GivenAnswer(text="", cited=frozenset({"news"}), called=frozenset({"get_widget_data"}))
    cites, calls = ExpectationKind.CITES, ExpectationKind.CALLS
    assert verdict(cites, answer, text="news") == AnswerVerdict(YES, "The widget is cited.")
    assert verdict(cites, answer, text="prices") == AnswerVerdict(
        NO, "The widget is not cited. Cited: news."
    )
    assert verdict(calls, answer, text="get_widget_data") == AnswerVerdict(
        YES, "The function was called."
    )
    assert verdict(calls, answer, text="get_skill_content") == AnswerVerdict(
        NO, "The function was not called. Called: get_widget_data."
    )
    assert verdict(calls, GivenAnswer(text=""), text="x") == AnswerVerdict(
        NO, "The function was not called. Called: none."
    )


def test_a_sentence_is_left_to_a_model():
    assert verdict(ExpectationKind.JUDGED, GivenAnswer(text="Hi"), text="It greets.") is None


@pytest.mark.parametrize(
    ("said", "judgement", "reason"),
    [
        ("YES: it greets.", YES, "YES: it greets."),
        ("**No**, it does not.", NO, "**No**, it does not."),
        (" yes", YES, "yes"),
        ("Yes.", YES, "Yes."),
        ("YES, because it greets.", YES, "YES, because it greets."),
        ("_No_", NO, "_No_"),
        ('{"answer": "no"}', NO, None),
        ("**Verdict:** YES", YES, None),
        ("<think>\nYes? Hardly.\n</think>\n\nNO: it does not.", NO, "NO: it does not."),
        ("NO: it says </think>YES", NO, None),
        ("<think>Yes", Judgement.UNDECIDED, None),
        ("Yesterday it did.", Judgement.UNDECIDED, None),
        ("Oui.", Judgement.UNDECIDED, "The judging model said neither yes nor no: Oui."),
        ("是", Judgement.UNDECIDED, None),
        ("I cannot help with that.", Judgement.UNDECIDED, None),
        ("I would say yes.", Judgement.UNDECIDED, None),
        (" \n", Judgement.UNDECIDED, "The judging model said neither yes nor no: -"),
        ("Nobody knows.", Judgement.UNDECIDED, None),
        ("", Judgement.UNDECIDED, "The judging model said neither yes nor no: -"),
        ("." * 600 + "yes", Judgement.UNDECIDED, None),
    ],
)
def test_a_judge_says_yes_or_no_first(said, judgement, reason):
    found = verdict_of_judge(said)
    assert found.judgement is judgement
    assert reason is None or found.reason == reason
