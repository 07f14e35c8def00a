"""What a model did wrong with its tools, and when it has done enough of it."""

from copilot_admin.agent.tools.tool_arguments import ToolMistake

MAX_MISTAKES = 2  # a model that is told what is wrong and does it again will do it a third time


class Mistakes:
    """Counts the rounds in which a model used its tools wrongly."""

    def __init__(self) -> None:
        self._first = ""  # of this round
        self._rounds = 0

    @property
    def too_many(self) -> bool:
        """Whether the model is to answer without tools."""
        return self._rounds >= MAX_MISTAKES

    def learn(self, mistake: ToolMistake) -> str:
        """Remembers a mistake of this round, and returns what the model is told."""
        self._first = self._first or mistake.public
        return mistake.public

    def end_round(self) -> str:
        """What the user is told after a round; empty while there is nothing to say."""
        first, self._first = self._first, ""
        self._rounds += bool(first)
        if not first or self._rounds != MAX_MISTAKES:
            return ""
        return (
            "The model used its tools wrongly more than once, so it answers without them. "
            f"The last problem: {first}"
        )
