"""Skills of the user: instructions for a kind of task, loaded when the task comes up."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client.skills import MOST_SKILLS, offered_skills
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import SKILL, Sample
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import GET_SKILL_CONTENT
from protocol.json import JsonObject
from protocol.models import CommandResult, Query, SourceResult


class GetSkillContent(BaseModel):
    """Loads one of the user's skills: instructions for a kind of task.

    Use it when the question is such a task, at most once, and then follow the instructions.
    """

    model_config = ConfigDict(extra="ignore")

    slug: str = Field(description="The slug of the skill, exactly as listed.")
    reason: str = Field(default="", description="Why this skill fits the question.")


class SkillContent(ClientFunction):
    """Offered once a turn, unless the user has chosen a skill already."""

    name: ClassVar[str] = GET_SKILL_CONTENT
    only_reads: ClassVar[bool] = True
    label: ClassVar[str] = "Skills that are loaded"
    words: ClassVar[CallWords] = CallWords(
        done="Skills were already loaded", no_more="no more skills are loaded"
    )
    samples: ClassVar[Sequence[Sample]] = (Sample(arguments={"slug": SKILL}),)

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The tool, with the slugs in its description."""
        query = situation.query
        skills = offered_skills(query)
        if skills:
            offer = self.offer(GetSkillContent, partial(_arguments, query))
            yield _with_slugs(offer, skills)

    def result_text(self, result: SourceResult) -> str | None:
        """The skill as instructions, since that is what the user keeps it for."""
        match result:
            case CommandResult(data={"skill": {"contentMarkdown": str(content), "slug": slug}}):
                return f"The skill {slug!r} says how to do this:\n{content}"
        return None


def _with_slugs(offer: Offer, skills: Sequence[JsonObject]) -> Offer:
    slugs = ", ".join(str(skill["slug"]) for skill in skills[:MOST_SKILLS])
    text = f"{offer.schema.description} The skills: {slugs}."
    return replace(offer, schema=replace(offer.schema, description=text))


def _arguments(query: Query, call: ToolCall) -> JsonObject:
    wanted = read_arguments(GetSkillContent, call)
    slug = wanted.slug.strip().removeprefix("/")
    slugs = [str(skill["slug"]) for skill in query.skills_catalog]
    if slug not in slugs:
        raise ToolMistake(f"There is no skill {quoted(wanted.slug)}. The skills: {listed(slugs)}.")
    reason = without_remote_images(wanted.reason, sources=())
    return {"slug": slug, **({"reason": reason} if reason else {})}
