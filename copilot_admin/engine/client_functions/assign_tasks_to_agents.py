"""Gives tasks to other agents of the user's workspace."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.engine.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.engine.dashboard import agents_of
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.tool_arguments import ToolMistake, read_arguments
from protocol.json import JsonObject
from protocol.query import Query

_LONGEST = 300  # characters of a description


class Task(BaseModel):
    """One task for one agent."""

    model_config = ConfigDict(extra="ignore")

    agent: str = Field(description="The id of an agent, exactly as listed.")
    task: str = Field(min_length=1, description="What it shall do, with all it needs to know.")


class AssignTasks(BaseModel):
    """Gives tasks to other agents, which answer the user themselves.

    Use it when another agent is better at something.
    """

    model_config = ConfigDict(extra="ignore")

    tasks: Annotated[list[Task], Field(min_length=1)]


class AssignTasksToAgents(ClientFunction):
    """Offered in orchestration mode, in which the request lists other agents."""

    name: ClassVar[str] = "assign_tasks_to_agents"

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The tool, with the agents in its description."""
        agents = agents_of(situation.query)
        if not agents:
            return
        offer = self.offer(AssignTasks, partial(_arguments, agents))
        rows = [f"- {one['id']}: {_about(one)}" for one in agents]
        text = "\n".join((f"{offer.schema.description} The agents:", *rows))
        yield replace(offer, schema=replace(offer.schema, description=text))

    def recalled(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Agents and tasks, as the model gave them."""
        requests = arguments.get("task_requests")
        tasks = [
            {"agent": one.get("assigned_agent_id"), "task": one.get("description")}
            for one in (requests if isinstance(requests, list) else [])
            if isinstance(one, dict)
        ]
        return self.name, {"tasks": list(tasks)}


def _arguments(agents: Iterable[JsonObject], call: ToolCall) -> JsonObject:
    known = {str(agent["id"]): agent for agent in agents}
    requests: list[JsonObject] = []
    for number, task in enumerate(read_arguments(AssignTasks, call).tasks, start=1):
        agent = known.get(task.agent)
        if agent is None:
            names = ", ".join(known)
            raise ToolMistake(f"There is no agent {task.agent!r}. The agents: {names}.")
        requests.append(
            {
                "id": str(number),
                "description": task.task,
                "assigned_holder_url": str(agent.get("holder_url") or ""),
                "assigned_agent_id": task.agent,
            }
        )
    return {"task_requests": list(requests)}


def _about(agent: JsonObject) -> str:
    text = f"{agent.get('name') or ''}. {agent.get('description') or ''}"
    return " ".join(text.split())[:_LONGEST]
