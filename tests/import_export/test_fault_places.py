"""Places in copilot files are told to builders in words."""

import pytest

from copilot_admin.import_export.faults import BadQuestion, FileFault, in_words

TYPE = "must be a list."


@pytest.mark.parametrize(
    ("path", "sentence", "words"),
    [
        ("widgets[0].id", "is missing.", "The first widget has no id."),
        ("widgets[0].columns[5]", TYPE, "The first widget, column 6: must be a list."),
        ("copilots[1].starters", TYPE, "The second copilot, starters: must be a list."),
        ("files[4]", "is missing.", "The fifth file: is missing."),
        ("results.get_quote[0]", TYPE, "Results, the first entry of get_quote: must be a list."),
        (
            "widgets[0].rows[1][2]",
            TYPE,
            "The first widget, the second row, the third entry: must be a list.",
        ),
        ("question", "is missing.", "question: is missing."),
        ("", "The file is empty.", "The file is empty."),
        (
            "desk.yaml: copilots[1].name",
            "is missing.",
            "desk.yaml, the second copilot has no name.",
        ),
        ("a b[0].x%s", TYPE, "a b[0].x%s: must be a list."),
        ("all.zip: desk.yaml", TYPE, "all.zip: desk.yaml: must be a list."),
    ],
)
def test_a_path_is_counted_from_one_and_said_in_words(path, sentence, words):
    assert in_words(FileFault(path, sentence)) == words


def test_a_bad_question_says_each_of_its_faults_in_words_and_keeps_the_paths():
    faults = [FileFault("widgets[0].id", "is missing."), FileFault("timezone", TYPE)]
    error = BadQuestion(faults)
    assert error.public == "The first widget has no id.\ntimezone: must be a list."
    assert [str(one) for one in error.faults] == ["widgets[0].id: is missing.", f"timezone: {TYPE}"]
