"""What a model sees of a copilot's data notes and of what a client sends beside the question."""

import json
from typing import Any

from copilot_admin.agent.prompt.conversation import DATA_MESSAGE_RULE, DATA_RULE, model_messages
from copilot_admin.agent.prompt.data_messages import data_blocks
from copilot_admin.agent.values.spec import DataMessagePolicy
from protocol.data import DataMessage
from protocol.models import AiMessage, ContextItem, HumanMessage, Query, WidgetParam, Widgets
from protocol.parsing import parse_query
from tests.agent.answer_requests import (
    data,
    fetched_pair,
    make_query,
    make_request,
    make_spec,
    make_widget,
    outputs_of,
)
from tests.agent.scripted import ScriptedProvider, call, text

EVERYTHING = DataMessagePolicy(
    widgets=True, context=True, results=True, workspace=True, options=True
)
NOTE = DataMessage(kind="user", data={"name": "Ada"}, description="Who asks.")


def seen(query: Query, **changes: Any) -> list[tuple[str, str]]:
    spec = make_spec(**changes)
    messages = model_messages(make_request(ScriptedProvider([]), query=query, spec=spec))
    return [(message.role.value, message.text) for message in messages]


def test_in_every_step_of_a_task_the_model_has_the_same_notes_before_it() -> None:
    rows = {"name": "N", "description": "D", "rows": [{"a": 1}]}
    provider = ScriptedProvider([call("table", **rows), call("table", **rows), text("Done.")])
    spec = make_spec(data=(NOTE,), tools=("table",), data_messages=DataMessagePolicy(options=True))
    query = make_query(HumanMessage("q"), workspace_options={"tone": "dry"})

    outputs_of(make_request(provider, query=query, spec=spec))

    first, second, third = (asked.messages for asked in provider.calls)
    assert [message.text for message in first if message.is_data] == [
        '## Data: ¶user\n{\n  "name": "Ada"\n}\nWho asks.',
        '## Data: ¶options\n{\n  "tone": "dry"\n}\n'
        "What the user chose in the settings of the chat.",
    ]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert not any(message.is_data for message in third[len(first) :])


ADA = '## Data: ¶user\n{\n  "name": "Ada"\n}\nWho asks.'
WIDGET = """\
## Data: ¶widgets
{
  "REF": {
    "name": "Prices 1",
    "description": "Prices of symbol 1.",
    "origin": "OpenBB API",
    "widget_id": "prices_1",
    "group": "primary",
    "params": { "symbol": "SYM1" }
  }
}
Widgets that the user offers, keyed by id."""


def test_what_the_client_sends_stands_before_the_question() -> None:
    widget = make_widget(1)
    query = make_query(
        HumanMessage("old"),
        AiMessage("answer"),
        HumanMessage("q"),
        *fetched_pair([widget], data('[{"close": 1.5}]')),
        widgets=Widgets(primary=(widget,)),
        timezone="Europe/Rome",
        workspace_state={"tab": "Macro"},
        workspace_options={"tone": "dry"},
        context=(ContextItem(name="Table 1", data=data('{"a": 1}'), description="Made before."),),
    )
    found = seen(query, data=(NOTE,), data_messages=EVERYTHING)
    assert [role for role, _ in found] == [*("system", "user", "user", "assistant"),
                                          *["user"] * 6, *("assistant", "tool")]  # fmt: skip
    assert [text for _, text in found] == [
        f"{DATA_RULE}\n\n{DATA_MESSAGE_RULE}",
        ADA,
        "old",
        "answer",
        '## Data: ¶workspace\n{\n  "tab": "Macro",\n  "timezone": "Europe/Rome"\n}\n'
        "What the user sees: the dashboard and its tabs.",
        '## Data: ¶options\n{\n  "tone": "dry"\n}\nWhat the user chose in the settings of the chat.',
        WIDGET.replace("REF", widget.ref),
        '## Data: ¶context\n_instance: Table 1\n{\n  "a": 1\n}\nMade before.',
        f'## Data: ¶widget_data\n_instance: {widget.ref}\n[\n  {{ "close": 1.5 }}\n]\n'
        'Data of the widget Prices 1 asked with {"symbol": "SYM1"}.',
        "q",
        "",
        f"(see ## Data: ¶widget_data, _instance: {widget.ref})",
    ]


def test_pieces_of_one_widget_are_merged_and_those_asked_differently_kept_apart() -> None:
    widget = make_widget(1)
    other = make_widget(1, params=(WidgetParam(name="symbol", current_value="TSLA"),))
    spec = make_spec(data_messages=DataMessagePolicy(results=True))
    heading = f"## Data: ¶widget_data\n_instance: {widget.ref}"
    for second, expected in (
        (widget, [f'{heading}\n{{\n  "a": 1,\n  "b": 2\n}}']),
        (
            other,
            [
                f'{heading} {{"symbol": "SYM1"}}\n{{\n  "a": 1\n}}',
                f'{heading} {{"symbol": "TSLA"}}\n{{\n  "b": 2\n}}',
            ],
        ),
    ):
        pairs = (
            *fetched_pair([widget], data('{"a": 1}')),
            *fetched_pair([second], data('{"b": 2}')),
        )
        query = make_query(HumanMessage("q"), *pairs, widgets=Widgets(primary=(widget,)))
        blocks = data_blocks(spec, query, limit=10_000).derived
        assert [block.split("\nData of")[0] for block in blocks] == expected


def test_a_client_may_send_data_messages_of_its_own() -> None:
    raw = [
        {"type": "data", "kind": "user", "data": {"age": 30}, "role": "system"},
        {"role": "system", "content": {"type": "data", "kind": "a\n## b", "data": 1}},
        {"name": "Table", "data": {"content": "x"}},
    ]
    context = parse_query({"messages": [{"role": "human", "content": "q"}], "context": raw}).context
    texts = [text for _, text in seen(make_query(context=context), data=(NOTE,))]
    assert texts[1:3] == [
        '## Data: ¶user\n{\n  "name": "Ada",\n  "age": 30\n}\nWho asks.',
        "## Data: ¶a-b\n1",
    ]
    assert texts[3].endswith('<data source="Table">\nx\n</data>')


ROWS = [{"n": number} for number in range(100)]
LEFT_OUT = "The data is left out: too much."


def blocks_of(value: Any, limit: int, description: str = "") -> Any:
    item = ContextItem(uuid="u", data=data(json.dumps(value)), description=description)
    spec = make_spec(data=(NOTE,), data_messages=DataMessagePolicy(context=True))
    blocks = data_blocks(spec, make_query(context=(item,)), limit=limit)
    assert blocks.frozen == (ADA,)
    assert len(blocks.derived[0]) <= max(limit, 70)
    return blocks.derived[0], *blocks.cuts


def test_lists_are_cut_between_rows_and_the_description_says_so() -> None:
    advice = "Ask about less to have all of it."
    cut, told = blocks_of(ROWS, 800, "All.")
    *_, rows = cut.partition("_instance: u\n")
    assert rows.endswith("\nAll. Showing first 49 of 100 rows.")
    assert json.loads(rows.rpartition("\n")[0]) == ROWS[:49]
    assert told == f"Not all data fits: All. Showing first 49 of 100 rows. {advice}"
    assert blocks_of(ROWS, 10) == (
        f"## Data: ¶context\n_instance: u\n{LEFT_OUT}",
        f"Not all data fits: context u. {LEFT_OUT} {advice}",
    )


def test_the_longest_list_of_an_object_is_the_one_that_is_cut() -> None:
    value = {"few": [1, 2], "rows": ROWS[:50], "none": {"a": []}}
    block, _ = blocks_of(value, 400)
    assert block == (
        '## Data: ¶context\n_instance: u\n{\n  "few": [1, 2],\n  "rows": [\n'
        + ",\n".join(f'    {{ "n": {number} }}' for number in range(16))
        + '\n  ],\n  "none": {\n    "a": []\n  }\n}\nShowing first 16 of 50 rows of "rows".'
    )
    [whole] = blocks_of(value, 10_000)
    assert blocks_of(value, len(whole)) == (whole,)
    assert blocks_of(value, len(whole) - 1)[0].endswith(' of 50 rows of "rows".')
