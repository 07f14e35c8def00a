"""Keeps instructions as a skill of the user."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import Sample
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import JsonObject


class SaveSkill(BaseModel):
    """Keeps instructions as a skill of the user, to be loaded in later chats.

    Use it only when the user asks to save a skill.
    """

    model_config = ConfigDict(extra="ignore")

    name: str = Field(default="", max_length=100, description="A short name for the skill.")
    instructions: str = Field(default="", description="The instructions, as Markdown.")


class Save(ClientFunction):
    """Offered where the client knows skills."""

    name: ClassVar[str] = "save_skill"
    label: ClassVar[str] = "Skills that are saved"
    words: ClassVar[CallWords] = CallWords(
        done="Skills were already saved", no_more="no more skills are saved"
    )
    samples: ClassVar[Sequence[Sample]] = (Sample(arguments={"name": "Brief"}),)

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The tool, if the request brought skills."""
        if situation.query.skills_catalog or situation.query.selected_skills:
            yield self.offer(SaveSkill, partial(_arguments, situation.spec.html_sources))


def _arguments(sources: Collection[str], call: ToolCall) -> JsonObject:
    given = read_arguments(SaveSkill, call)
    if not given.name.strip() and not given.instructions.strip():
        raise ToolMistake("A skill needs a name or instructions. Give at least one of them.")
    # Both are shown, and read in every chat to come.
    kept: JsonObject = {
        "name": without_remote_images(given.name, sources=()),
        "instructions": without_remote_images(given.instructions, sources=sources),
    }
    return {key: one for key, one in kept.items() if one}
