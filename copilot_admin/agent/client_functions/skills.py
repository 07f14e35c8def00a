"""Skills of the user: instructions for a kind of task, loaded or saved."""

from pydantic import Field

from copilot_admin.agent.client.workspace import MAX_SKILLS, offered_skills
from copilot_admin.agent.client_functions.base import ClientFunction, ToolScope
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolMistake
from protocol.functions import GET_SKILL_CONTENT
from protocol.json import JsonObject
from protocol.models import CommandResult, SourceResult


class GetSkillContent(ClientFunction):
    """Loads one of the user's skills: instructions for a kind of task.

    Use it when the question is such a task, at most once, and then follow the instructions.
    """

    function = GET_SKILL_CONTENT
    only_reads = True
    label = "Skills that are loaded"

    slug: str = Field(description="The slug of the skill, exactly as listed.")
    reason: str = Field(default="", description="Why this skill fits the question.")

    def build(self, scope: ToolScope) -> JsonObject:
        slug = self.slug.strip().removeprefix("/")
        slugs = [str(skill["slug"]) for skill in scope.query.skills_catalog]
        if slug not in slugs:
            raise ToolMistake(
                f"There is no skill {quote(self.slug)}. The skills: {join_names(slugs)}."
            )
        return {"slug": slug, **({"reason": self.reason} if self.reason else {})}

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return bool(offered_skills(scope.query))  # one in a turn, unless the user chose one

    @classmethod
    def more_description(cls, scope: ToolScope) -> str:
        skills = offered_skills(scope.query)[:MAX_SKILLS]
        return f" The skills: {', '.join(str(skill['slug']) for skill in skills)}."

    @classmethod
    def result_text(cls, result: SourceResult) -> str | None:
        """Return the skill as instructions: the user wants them to be followed."""
        match result:
            case CommandResult(data={"skill": {"contentMarkdown": str(content), "slug": slug}}):
                return f"The skill {slug!r} says how to do this:\n{content}"
        return None


class SaveSkill(ClientFunction):
    """Keeps instructions as a skill of the user, to be loaded in later chats.

    Use it only when the user asks to save a skill.
    """

    function = "save_skill"
    label = "Skills that are saved"

    name: str = Field(default="", max_length=100, description="A short name for the skill.")
    instructions: str = Field(default="", description="The instructions, as Markdown.")

    def build(self, scope: ToolScope) -> JsonObject:
        if not self.name.strip() and not self.instructions.strip():
            raise ToolMistake("A skill needs a name or instructions. Give at least one of them.")
        return self.model_dump(exclude_defaults=True)

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return bool(scope.query.skills_catalog or scope.query.selected_skills)
