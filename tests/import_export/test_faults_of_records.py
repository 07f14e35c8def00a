"""Faults of components, custom features, saved questions and data notes in a copilot file."""

import pytest

from tests.import_export.small_files import NOTE, faults_of_copilot


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
    (found,) = faults_of_copilot(components=components)
    assert found.startswith(f"copilots[0].{fault}"), found


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
    assert faults_of_copilot(custom_features=[row]) == [
        f"copilots[0].custom_features[0]: {sentence}"
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
    assert faults_of_copilot(questions=[row]) == [f"copilots[0].questions[0].{fault}"]


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
    assert faults_of_copilot(**changes) == [f"copilots[0].{fault}"]
