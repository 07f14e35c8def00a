"""Skills of the user: instructions for a kind of task, loaded or saved."""

from collections.abc import Iterable
from functools import partial

from pydantic import BaseModel, Field

from copilot_admin.agent.client.workspace import MAX_SKILLS, offered_skills
from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    ToolDefinition,
    ToolScope,
    describe,
)
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import GET_SKILL_CONTENT
from protocol.json import JsonObject
from protocol.models import CommandResult, Query, SourceResult


class LoadSkill(BaseModel):
    """Loads one of the user's skills: instructions for a kind of task.

    Use it when the question is such a task, at most once, and then follow the instructions.
    """

    slug: str = Field(description="The slug of the skill, exactly as listed.")
    reason: str = Field(default="", description="Why this skill fits the question.")


class NewSkill(BaseModel):
    """Keeps instructions as a skill of the user, to be loaded in later chats.

    Use it only when the user asks to save a skill.
    """

    name: str = Field(default="", max_length=100, description="A short name for the skill.")
    instructions: str = Field(default="", description="The instructions, as Markdown.")


class GetSkillContent(ClientFunction):
    """Available for one call in a turn, unless the user has already chosen a skill."""

    name = GET_SKILL_CONTENT
    only_reads = True
    label = "Skills that are loaded"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the tool with the slugs in its description."""
        skills = offered_skills(scope.query)
        if skills:
            slugs = ", ".join(str(skill["slug"]) for skill in skills[:MAX_SKILLS])
            yield ToolDefinition(
                schema=describe(self.name, LoadSkill, f" The skills: {slugs}."),
                function=self.name,
                arguments=partial(_read_slug, scope.query),
            )

    def result_text(self, result: SourceResult) -> str | None:
        """Return the skill as instructions: the user wants them to be followed."""
        match result:
            case CommandResult(data={"skill": {"contentMarkdown": str(content), "slug": slug}}):
                return f"The skill {slug!r} says how to do this:\n{content}"
        return None


class SaveSkill(ClientFunction):
    """Available if the client knows skills."""

    name = "save_skill"
    label = "Skills that are saved"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the tool if the request contains skills."""
        if scope.query.skills_catalog or scope.query.selected_skills:
            yield self.define_tool(NewSkill, _read_skill)


def _read_slug(query: Query, call: ToolCall) -> JsonObject:
    wanted = read_arguments(LoadSkill, call)
    slug = wanted.slug.strip().removeprefix("/")
    slugs = [str(skill["slug"]) for skill in query.skills_catalog]
    if slug not in slugs:
        raise ToolMistake(
            f"There is no skill {quote(wanted.slug)}. The skills: {join_names(slugs)}."
        )
    return {"slug": slug, **({"reason": wanted.reason} if wanted.reason else {})}


def _read_skill(call: ToolCall) -> JsonObject:
    given = read_arguments(NewSkill, call)
    if not given.name.strip() and not given.instructions.strip():
        raise ToolMistake("A skill needs a name or instructions. Give at least one of them.")
    return given.model_dump(exclude_defaults=True)
