"""Tasks for other agents, and whether their answers are the user's."""

from dataclasses import replace
from typing import Any

import pytest

from copilot_admin.agent.client_functions.samples import FULL_QUERY
from copilot_admin.agent.values.model_call import Finish, ModelRole
from protocol.events import MessageChunk
from protocol.models import AiMessage, CommandResult, HumanMessage, ResultMessage
from tests.agent.client_functions.offered_calls import asked, mistake, offers
from tests.agent.engine_inputs import make_engine_input, make_query, outputs_of
from tests.agent.scripted import ScriptedProvider, call, text


def test_tasks_are_given_to_agents_that_are_there():
    assert asked(
        "assign_tasks_to_agents",
        task_requests=[{"description": "Explain rates.", "assigned_agent_id": "macro"}],
    ) == {
        "task_requests": [
            {
                "id": "1",
                "description": "Explain rates.",
                "assigned_holder_url": "https://m",
                "assigned_agent_id": "macro",
            }
        ]
    }
    unknown = [{"description": "y", "assigned_agent_id": "x"}]
    assert mistake("assign_tasks_to_agents", task_requests=unknown) == (
        "There is no agent 'x'. The agents: macro."
    )
    described = offers()["assign_tasks_to_agents"].schema.description
    assert described.endswith("The agents:\n- macro: Macro. Knows rates.")


def test_of_two_agents_with_one_id_the_address_decides():
    agents = [{"id": "macro", "holder_url": url} for url in ("https://m", "https://n")]
    query = replace(FULL_QUERY, workspace_state={"agents": agents})
    for given, sent in (
        ("https://n", "https://n"),
        ("https://n/", "https://n"),
        ("", "https://m"),
        ("https://x", "https://m"),
    ):
        task = {"id": "t", "description": "Do.", "assigned_agent_id": "macro"}
        whole = {**task, "assigned_holder_url": given}
        assert asked("assign_tasks_to_agents", query, task_requests=[whole]) == {
            "task_requests": [{**task, "assigned_holder_url": sent}]
        }


TASKS: dict[str, Any] = {
    "task_requests": [{"description": "Explain rates.", "assigned_agent_id": "macro"}]
}


@pytest.mark.parametrize("direct", [True, False])
def test_the_client_is_told_whether_the_agents_own_answers_are_enough(direct):
    wish = call("assign_tasks_to_agents", **TASKS, expect_direct_response=direct)
    with ScriptedProvider([wish]) as provider:
        *_, made = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert made.extra_state.get("expect_direct_response", False) is direct
    assert "expect_direct_response" not in made.input_arguments
    assert made.extra_state["copilot_function_call_arguments"] == made.input_arguments


def answered_by_agents(*results, **state):
    return make_query(
        HumanMessage("Explain."),
        AiMessage("Rates rose.", agent_id="macro"),
        ResultMessage("assign_tasks_to_agents", {}, results, state),
    )


def test_where_they_are_the_model_is_not_asked_again():
    query = answered_by_agents(expect_direct_response=True)
    with ScriptedProvider([]) as provider:
        assert outputs_of(make_engine_input(provider, query=query)) == [Finish("stop")]


@pytest.mark.parametrize(
    "query",
    [
        answered_by_agents(),
        answered_by_agents(expect_direct_response="yes"),
        answered_by_agents(CommandResult("error", "Gone."), expect_direct_response=True),
        replace(
            answered_by_agents(expect_direct_response=True),
            messages=(
                *answered_by_agents(expect_direct_response=True).messages,
                HumanMessage("And?"),
            ),
        ),
    ],
    ids=["not wanted", "odd", "a task failed", "another question"],
)
def test_in_every_other_case_it_is(query):
    with ScriptedProvider([text("So.")]) as provider:
        assert MessageChunk("So.") in outputs_of(make_engine_input(provider, query=query))
    told = [one.text for one in provider.calls[0].messages if one.role is ModelRole.TOOL]
    assert told in (
        ["(the agents have answered the user themselves)"],
        ['<data source="assign_tasks_to_agents">\n(error) Gone.\n</data>'],
    )
