"""Reads the environment: typed values, secrets from files, and one line when something is wrong."""

from collections.abc import Mapping
from enum import StrEnum
import os
from pathlib import Path
from typing import TypeVar

_Choice = TypeVar("_Choice", bound=StrEnum)

OF_FILE = "_FILE"  # after the name of a secret: the variable that names a file with it
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
_LONGEST_HALF = 400  # characters, twice as long as any sentence of ours is after its value


class BadSetting(SystemExit):
    """A variable is wrong or missing.

    Settings are read before anything can catch an error. As a `SystemExit` it ends the process
    with its one line on standard error and status 1, under every server and command.
    """

    def __init__(self, sentence: str) -> None:
        self.sentence = _in_one_line(sentence)
        super().__init__(self.sentence)


class Environment:
    """The variables of a process, read by type; a variable that is empty counts as absent."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables

    def text(self, name: str, default: str = "") -> str:
        """The text of a variable, without the space around it.

        Raises:
            BadSetting: It has bytes that are no UTF-8, which Python keeps as halves of characters.
        """
        text = self.variables.get(name, "").strip() or default
        if not text.isascii() and any(0xD800 <= ord(sign) <= 0xDFFF for sign in text):
            raise BadSetting(f"{name} has bytes that are no UTF-8. Write it anew in UTF-8.")
        return text

    def secret(self, name: str) -> str:
        """A secret, from the variable or from the file that `<name>_FILE` names.

        Raises:
            BadSetting: Both are set, or the file cannot be read, or nothing is in it.
        """
        file_name = self.text(name + OF_FILE)
        if not file_name:
            return self.text(name)
        if self.text(name):
            raise BadSetting(f"{name} and {name}_FILE are both set. Keep one of them.")
        try:
            secret = Path(file_name).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError too
            reason = getattr(error, "strerror", None) or "it is not text"
            raise BadSetting(
                f"{name}_FILE names the file {file_name}, which cannot be read: {reason}."
            ) from None
        if not secret:
            # Whoever names a file means it: without DATABASE_URL a server would go on with SQLite.
            raise BadSetting(
                f"{name}_FILE names the file {file_name}, which is empty. Fill it, or leave the "
                "variable out."
            )
        return secret

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Reads a switch: true, false, or the default when it is not set.

        Raises:
            BadSetting: The text is no word for on or off.
        """
        word = self.text(name).lower()
        if not word:
            return default
        if word in TRUE_WORDS or word in FALSE_WORDS:
            return word in TRUE_WORDS
        raise BadSetting(f"{name} is {word!r}. Use true or false.")

    def number(self, name: str, *, default: float, minimum: float, maximum: float) -> float:
        """Reads a number and checks its bounds.

        Raises:
            BadSetting: The text is no number, or one out of bounds.
        """
        text = self.text(name)
        try:
            number = float(text or default)
        except ValueError:
            number = float("nan")
        if not minimum <= number <= maximum:
            raise BadSetting(f"{name} is {text!r}. Use a number from {minimum:g} to {maximum:g}.")
        return number

    def whole_number(self, name: str, *, default: int, minimum: int, maximum: int) -> int:
        """Reads a number that counts something.

        Raises:
            BadSetting: The text is no number, one out of bounds, or one with a fraction.
        """
        number = self.number(name, default=default, minimum=minimum, maximum=maximum)
        if not number.is_integer():
            raise BadSetting(
                f"{name} is {self.text(name)!r}. Use a whole number from {minimum} to {maximum}."
            )
        return int(number)

    def optional_count(self, name: str, *, maximum: int) -> int | None:
        """Read a count that may be left out: None."""
        if not self.text(name):
            return None
        return self.whole_number(name, default=0, minimum=0, maximum=maximum)

    def items(self, name: str, *, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Reads a list whose items are separated by commas."""
        return _split(self.text(name)) or default

    def secret_items(self, name: str) -> tuple[str, ...]:
        """A list of secrets, separated by commas; see `secret`."""
        return _split(self.secret(name))

    def choice(self, name: str, choices: type[_Choice], *, default: _Choice) -> _Choice:
        """Reads one of a closed set of values.

        Raises:
            BadSetting: The text is none of them.
        """
        text = self.text(name, default.value)
        for choice in choices:
            if choice.value == text:
                return choice
        known = " or ".join(choice.value for choice in choices)
        raise BadSetting(f"{name} is {text!r}. Use {known}.")


def process_environment() -> Environment:
    """The variables of this process."""
    return Environment(os.environ)


def _in_one_line(sentence: str) -> str:
    """A sentence without the middle of an endless value that it repeats: its end says what to do."""
    if len(sentence) <= 2 * _LONGEST_HALF:
        return sentence
    return f"{sentence[:_LONGEST_HALF]} … {sentence[-_LONGEST_HALF:]}"


def _split(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())
