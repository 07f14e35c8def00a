"""Gives tasks to other agents of the user's workspace."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client.dashboard import agents_of
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import AGENT, Sample
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import JsonObject
from protocol.models import Query, ResultMessage

_DIRECT = "expect_direct_response"
MOST_TASKS = 50  # each is a question to another agent
_LONGEST = 300  # characters of a description


class Task(BaseModel):
    """One task for one agent."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(default="", description="Names the task; leave it out to have it numbered.")
    description: str = Field(
        min_length=1, description="What the agent shall do, with all it needs to know."
    )
    assigned_agent_id: str = Field(description="The id of an agent, exactly as listed.")
    assigned_holder_url: str = Field(default="", description="Of the agent, as listed.")


class AssignTasks(BaseModel):
    """Gives tasks to other agents, which answer the user themselves.

    Use it when another agent is better at something.
    """

    model_config = ConfigDict(extra="ignore")

    task_requests: Annotated[list[Task], Field(min_length=1, max_length=MOST_TASKS)]
    expect_direct_response: bool = Field(
        default=False,
        description="Whether the agents' own answers are all that the user needs: then you say "
        "nothing more. Else you are asked again when they have answered.",
    )


class AssignTasksToAgents(ClientFunction):
    """Offered in orchestration mode, in which the request lists other agents."""

    name: ClassVar[str] = "assign_tasks_to_agents"
    label: ClassVar[str] = "Tasks for other agents"
    words: ClassVar[CallWords] = CallWords(
        done="Tasks were already given", no_more="no more tasks are given"
    )
    without_result: ClassVar[str] = "(the agents have answered the user themselves)"
    samples: ClassVar[Sequence[Sample]] = (
        Sample(
            arguments={
                "task_requests": [{"description": "Explain rates.", "assigned_agent_id": AGENT}]
            }
        ),
    )

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The tool, with the agents in its description."""
        agents = agents_of(situation.query)
        if not agents:
            return
        offer = replace(self.offer(AssignTasks, partial(_arguments, agents)), state=_state)
        rows = [f"- {one['id']}: {_about(one)}" for one in agents]
        text = "\n".join((f"{offer.schema.description} The agents:", *rows))
        yield replace(offer, schema=replace(offer.schema, description=text))


def agents_answered(query: Query) -> bool:
    """Whether the client has just come back from agents whose answers are all that was wanted.

    Source: the client then brings no results, unless one of the tasks failed.
    """
    last = query.messages[-1]
    if not isinstance(last, ResultMessage) or last.function != AssignTasksToAgents.name:
        return False
    return not last.data and last.extra_state.get(_DIRECT) is True


def _state(call: ToolCall) -> JsonObject:
    return {_DIRECT: True} if read_arguments(AssignTasks, call).expect_direct_response else {}


def _arguments(agents: Sequence[JsonObject], call: ToolCall) -> JsonObject:
    requests: list[JsonObject] = []
    for number, task in enumerate(read_arguments(AssignTasks, call).task_requests, start=1):
        agent = _agent(agents, task)
        requests.append(
            {
                "id": task.id or str(number),
                "description": without_remote_images(task.description, sources=()),
                "assigned_holder_url": str(agent.get("holder_url") or ""),
                "assigned_agent_id": task.assigned_agent_id,
            }
        )
    return {"task_requests": list(requests)}


def _agent(agents: Sequence[JsonObject], task: Task) -> JsonObject:
    named = [one for one in agents if one["id"] == task.assigned_agent_id]
    if not named:
        names = listed(str(one["id"]) for one in agents)
        wanted = quoted(task.assigned_agent_id)
        raise ToolMistake(f"There is no agent {wanted}. The agents: {names}.")
    address = task.assigned_holder_url.rstrip("/")
    there = [one for one in named if str(one.get("holder_url") or "").rstrip("/") == address]
    return (there or named)[0]


def _about(agent: JsonObject) -> str:
    text = f"{agent.get('name') or ''}. {agent.get('description') or ''}"
    return " ".join(text.split())[:_LONGEST]
