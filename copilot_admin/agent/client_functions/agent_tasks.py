"""Tasks for other agents of the user's workspace."""

from typing import Annotated

from pydantic import BaseModel, Field

from copilot_admin.agent.client.workspace import agents_of
from copilot_admin.agent.client_functions.base import ClientFunction, ToolScope
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolMistake
from protocol.json import JsonObject
from protocol.models import Query, ResultMessage

MAX_TASKS = 50  # each is a question to another agent
_MAX_DESCRIPTION = 300  # characters
_DIRECT = "expect_direct_response"


class Task(BaseModel):
    """One task for one agent."""

    id: str = Field(default="", description="Names the task; leave it out to have it numbered.")
    description: str = Field(
        min_length=1, description="What the agent should do, with all it needs to know."
    )
    assigned_agent_id: str = Field(description="The id of an agent, exactly as listed.")
    assigned_holder_url: str = Field(default="", description="Of the agent, as listed.")


class AssignTasksToAgents(ClientFunction):
    """Gives tasks to other agents, which answer the user themselves.

    Use it when another agent is better at something.
    """

    function = "assign_tasks_to_agents"
    label = "Tasks for other agents"
    without_result = "(the agents have answered the user themselves)"

    task_requests: Annotated[list[Task], Field(min_length=1, max_length=MAX_TASKS)]
    expect_direct_response: bool = Field(
        default=False,
        description="Whether the agents' own answers are all that the user needs: then you say "
        "nothing more. Else you are asked again when they have answered.",
    )

    def build(self, scope: ToolScope) -> JsonObject:
        requests: list[JsonObject] = [
            {
                "id": task.id or str(number),
                "description": task.description,
                "assigned_holder_url": str(_find_agent(scope, task).get("holder_url") or ""),
                "assigned_agent_id": task.assigned_agent_id,
            }
            for number, task in enumerate(self.task_requests, start=1)
        ]
        return {"task_requests": list(requests)}

    def extra_state(self) -> JsonObject:
        return {_DIRECT: True} if self.expect_direct_response else {}

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return bool(agents_of(scope.query))  # only an orchestrator has any

    @classmethod
    def more_description(cls, scope: ToolScope) -> str:
        texts = (
            (agent["id"], f"{agent.get('name') or ''}. {agent.get('description') or ''}")
            for agent in agents_of(scope.query)
        )
        rows = (f"\n- {id}: {' '.join(text.split())[:_MAX_DESCRIPTION]}" for id, text in texts)
        return f" The agents:{''.join(rows)}"


def agents_answered(query: Query) -> bool:
    """Return true if the client returns from agents that answered the user directly.

    Source: the client then sends no results, unless one of the tasks failed.
    """
    last = query.messages[-1]
    if not isinstance(last, ResultMessage) or last.function != AssignTasksToAgents.function:
        return False
    return not last.data and last.extra_state.get(_DIRECT) is True


def _find_agent(scope: ToolScope, task: Task) -> JsonObject:
    agents = agents_of(scope.query)
    named = [one for one in agents if one["id"] == task.assigned_agent_id]
    if not named:
        names = join_names(str(one["id"]) for one in agents)
        wanted = quote(task.assigned_agent_id)
        raise ToolMistake(f"There is no agent {wanted}. The agents: {names}.")
    url = task.assigned_holder_url.rstrip("/")
    there = [one for one in named if str(one.get("holder_url") or "").rstrip("/") == url]
    return (there or named)[0]
