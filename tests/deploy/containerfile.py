"""Reads the Containerfile: its stages, and the instructions of each with what belongs to them."""

from dataclasses import dataclass, field
import json
import re

from copilot_admin.settings import BASE_DIR

PATH = BASE_DIR / "Containerfile"
JOINED = re.compile(r"\\\n(?:[ \t]*#[^\n]*\n)*\s*")
COMMENT = re.compile(r"^\s*#.*\n", re.MULTILINE)
VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line: `RUN` and what is run."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its words, of a JSON list those of the list."""
        if self.text.startswith("["):
            return [str(word) for word in json.loads(self.text)]
        return self.text.split()


@dataclass(slots=True)
class Stage:
    """What is made of a base image."""

    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, name: str) -> list[Instruction]:
        """The instructions with a name."""
        return [one for one in self.instructions if one.name == name]

    def last(self, name: str) -> Instruction:
        """The one that counts."""
        return self.all(name)[-1]


def stages() -> list[Stage]:
    """The stages of the Containerfile, with the defaults of its arguments in place."""
    found: list[Stage] = []
    arguments: dict[str, str] = {}
    text = JOINED.sub(" ", COMMENT.sub("", PATH.read_text()))
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(" ")
        rest = VARIABLE.sub(lambda match: arguments[match[1]], rest.strip())
        if name == "ARG":
            key, _, value = rest.partition("=")
            arguments[key] = value
        elif name == "FROM":
            base, _, stage = rest.partition(" AS ")
            found.append(Stage(base, stage))
        else:
            found[-1].instructions.append(Instruction(name, rest))
    return found
