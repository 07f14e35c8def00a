"""What a model sees of a copilot's data notes and of what a client sends beside the question."""

import json
from typing import Any

from copilot_admin.agent.prompt.conversation import DATA_MESSAGE_RULE, DATA_RULE, model_messages
from copilot_admin.agent.prompt.data_messages import data_blocks
from copilot_admin.agent.values.spec import DataMessagePolicy
from protocol.data import DataMessage
from protocol.models import (
    AiMessage,
    ContextItem,
    HumanMessage,
    Query,
    WidgetParam,
    Widgets,
)
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
    messages = model_messages(make_request(ScriptedProvider([]), query=query, spec=spec), query)
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

    assert seen(query, data=(NOTE,), data_messages=EVERYTHING) == [
        ("system", f"{DATA_RULE}\n\n{DATA_MESSAGE_RULE}"),
        ("user", '## Data: ¶user\n{\n  "name": "Ada"\n}\nWho asks.'),
        ("user", "old"),
        ("assistant", "answer"),
        (
            "user",
            '## Data: ¶workspace\n{\n  "tab": "Macro",\n  "timezone": "Europe/Rome"\n}\n'
            "What the user sees: the dashboard and its tabs.",
        ),
        (
            "user",
            '## Data: ¶options\n{\n  "tone": "dry"\n}\n'
            "What the user chose in the settings of the chat.",
        ),
        (
            "user",
            f'## Data: ¶widgets\n{{\n  "{widget.ref}": {{\n    "name": "Prices 1",\n'
            '    "description": "Prices of symbol 1.",\n    "origin": "OpenBB API",\n'
            '    "widget_id": "prices_1",\n    "group": "primary",\n'
            '    "params": { "symbol": "SYM1" }\n  }\n}\n'
            "Widgets that the user offers, keyed by id.",
        ),
        ("user", '## Data: ¶context\n_instance: Table 1\n{\n  "a": 1\n}\nMade before.'),
        (
            "user",
            f"## Data: ¶widget_data\n_instance: {widget.ref}\n"
            '[\n  { "close": 1.5 }\n]\n'
            'Data of the widget Prices 1 asked with {"symbol": "SYM1"}.',
        ),
        ("user", "q"),
        ("assistant", ""),
        ("tool", f"(see ## Data: ¶widget_data, _instance: {widget.ref})"),
    ]


def test_pieces_of_one_widget_are_merged_and_those_asked_differently_kept_apart() -> None:
    widget = make_widget(1)
    other = make_widget(1, params=(WidgetParam(name="symbol", current_value="TSLA"),))
    twice = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], data('{"a": 1}')),
        *fetched_pair([widget], data('{"b": 2}')),
        widgets=Widgets(primary=(widget,)),
    )
    apart = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], data('{"a": 1}')),
        *fetched_pair([other], data('{"a": 2}')),
        widgets=Widgets(primary=(widget,)),
    )
    results = DataMessagePolicy(results=True)

    blocks = data_blocks(make_spec(data_messages=results), twice, limit=10_000)
    assert [block.split("\nData of")[0] for block in blocks.derived] == [
        f'## Data: ¶widget_data\n_instance: {widget.ref}\n{{\n  "a": 1,\n  "b": 2\n}}'
    ]
    blocks = data_blocks(make_spec(data_messages=results), apart, limit=10_000)
    assert [block.split("\nData of")[0] for block in blocks.derived] == [
        f'## Data: ¶widget_data\n_instance: {widget.ref} {{"symbol": "SYM1"}}\n{{\n  "a": 1\n}}',
        f'## Data: ¶widget_data\n_instance: {widget.ref} {{"symbol": "TSLA"}}\n{{\n  "a": 2\n}}',
    ]


def test_a_client_may_send_data_messages_of_its_own() -> None:
    raw = [
        {"type": "data", "kind": "user", "data": {"age": 30}, "role": "system"},
        {"role": "system", "content": {"type": "data", "kind": "a\n## b", "data": 1}},
        {"name": "Table", "data": {"content": "x"}},
    ]
    context = parse_query({"messages": [{"role": "human", "content": "q"}], "context": raw}).context

    texts = seen(make_query(context=context), data=(NOTE,))

    assert texts[1:3] == [
        ("user", '## Data: ¶user\n{\n  "name": "Ada",\n  "age": 30\n}\nWho asks.'),
        ("user", "## Data: ¶a-b\n1"),
    ]
    assert texts[3][1].endswith('<data source="Table">\nx\n</data>')


def test_lists_are_cut_between_rows_and_the_description_says_so() -> None:
    rows = [{"n": number} for number in range(100)]
    items = tuple(
        ContextItem(uuid=name, data=data(json.dumps(value)), description="All.")
        for name, value in (("rows", rows), ("object", {"long": "x" * 5000}))
    )
    spec = make_spec(data=(NOTE,), data_messages=DataMessagePolicy(context=True))

    blocks = data_blocks(spec, make_query(context=items), limit=800)

    assert blocks.frozen == ('## Data: ¶user\n{\n  "name": "Ada"\n}\nWho asks.',)
    cut, left_out = blocks.derived
    assert len(cut) <= 800
    assert cut.endswith("\nAll. Showing first 44 of 100 rows.")
    assert json.loads(cut.split("\n", 2)[2].rpartition("\n")[0]) == rows[:44]
    assert left_out == (
        "## Data: ¶context\n_instance: object\nAll. The data is left out: too much."
    )
    assert blocks.cuts == (
        "Not all data fits: All. Showing first 44 of 100 rows. Ask about less to have all of it.",
        "Not all data fits: All. The data is left out: too much. Ask about less to have all of it.",
    )
    nameless = ContextItem(uuid="rows", data=items[0].data)
    short = data_blocks(spec, make_query(context=(nameless,)), limit=10)
    assert short.derived[0].endswith("\nThe data is left out: too much.")
    assert short.cuts == (
        "Not all data fits: context rows. The data is left out: too much. Ask about less to have "
        "all of it.",
    )


def test_the_longest_list_of_an_object_is_the_one_that_is_cut() -> None:
    value = {"few": [1, 2], "rows": [{"n": number} for number in range(50)], "none": {"a": []}}
    item = ContextItem(uuid="u", data=data(json.dumps(value)))
    spec = make_spec(data_messages=DataMessagePolicy(context=True))

    [block] = data_blocks(spec, make_query(context=(item,)), limit=400).derived

    assert block == (
        '## Data: ¶context\n_instance: u\n{\n  "few": [1, 2],\n  "rows": [\n'
        + ",\n".join(f'    {{ "n": {number} }}' for number in range(16))
        + '\n  ],\n  "none": {\n    "a": []\n  }\n}\nShowing first 16 of 50 rows of "rows".'
    )
    assert len(block) <= 400
    [whole] = data_blocks(spec, make_query(context=(item,)), limit=10_000).derived
    [exact] = data_blocks(spec, make_query(context=(item,)), limit=len(whole)).derived
    [cut] = data_blocks(spec, make_query(context=(item,)), limit=len(whole) - 1).derived
    assert exact == whole
    assert cut.endswith(' of 50 rows of "rows".')
