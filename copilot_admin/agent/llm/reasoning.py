"""Reasoning that models write into their text, separated from the answer as it streams."""

from collections.abc import Callable, Collection
import re

from copilot_admin.agent.llm.tool_calls import CallLimits, read_arguments_text
from copilot_admin.agent.values.model_call import Delta, ReasoningDelta, TextDelta, ToolCall

# Of Qwen, DeepSeek, Claude and others, Mistral, Kimi, Seed, Gemma.
_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel>thought": "<channel|>",
}
_HARMONY = ("<|channel|>", "<|start|>", "<|message|>")  # of gpt-oss
# The same if a server drops the special tokens: "analysisThe user asks ...assistantfinalYes."
_STRIPPED_OPENING = "analysis"
_STRIPPED_CLOSING = "assistantfinal"
_OPENING_TAG = re.compile(rf"{'|'.join(map(re.escape, _TAGS))}|{_STRIPPED_OPENING}(?=[A-Z])")
_OPENINGS = (*_TAGS, *_HARMONY)
# Closing tags whose opening tag is part of the chat template. A mention of one in the text of an
# answer is followed by a blank or a sign.
_CLOSINGS = ("</think>", "</thinking>", "[/THINK]", "◁/think▷")
_LONE_CLOSING = re.compile(rf"(?:{'|'.join(map(re.escape, _CLOSINGS))})(?=[\w\n#*|\[$-]|\Z)")
_MAX_LEAD = 64  # characters of blanks and a tag
_WATCHED = (*_TAGS, *_CLOSINGS)
_HARMONY_TOKEN = re.compile(r"<\|(start|channel|message|end|return|call|constrain)\|>")
_HARMONY_TOKENS = (*_HARMONY, "<|end|>", "<|return|>", "<|call|>", "<|constrain|>")
_RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.-]+)")


class ReasoningReader:
    """Splits streamed text into reasoning, answer and, for gpt-oss, tool calls.

    If it `thinks_first`, the model's text begins with reasoning without an opening tag. The text is
    buffered until the closing tag arrives.

    Attributes:
        was_unopened: A closing tag arrived alone, so that all text before it was reasoning.
    """

    def __init__(self, limits: CallLimits, *, thinks_first: bool = False) -> None:
        self.was_unopened = False
        self._limits = limits
        self._held = ""
        self._found: list[Delta] = []
        self._closing = ""
        self._searched = 0  # characters of the buffer that contain no closing tag
        self._is_settled = False  # a lone closing tag is no longer possible
        self._ticks = 0  # of code in the answer so far
        self._sent = False  # part of an answer, which can't be revoked
        self._mentions_tag = False
        self._header = ""
        self._in_body = False
        self._call_text = ""
        self._calls = 0
        self._read: Callable[[bool], bool] = self._read_start
        if thinks_first:
            self._read = self._read_unopened

    def feed(self, text: str) -> list[Delta]:
        """Return the deltas that are certain after the next piece of text."""
        if not self._held and self._read == self._read_plain:
            return [TextDelta(text)] if text else []
        self._held += text
        return self._run(is_end=False)

    def end(self) -> list[Delta]:
        """Return the buffered text."""
        return self._run(is_end=True)

    def passes_plain_text(self) -> bool:
        """Return true if text without the first signs of marks is answer unchanged."""
        if self._held or self._read not in (self._read_plain, self._read_watching):
            return False
        self._sent = True
        return True

    def stop_watching(self) -> None:
        """Rule out a lone closing tag: reasoning was sent in a separate field."""
        self._is_settled = True
        if self._read == self._read_unopened:
            self._read = self._read_start
        elif self._read == self._read_watching:
            self._read = self._read_plain

    def _run(self, *, is_end: bool) -> list[Delta]:
        while self._held and self._read(is_end):
            pass
        found, self._found = self._found, []
        return found

    def _think(self, text: str) -> None:
        if text:
            self._found.append(ReasoningDelta(text))

    def _add_answer_text(self, text: str) -> None:
        if text:
            self._found.append(TextDelta(text))

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken

    def _read_start(self, is_end: bool) -> bool:
        text = self._held.lstrip()
        if opening := _OPENING_TAG.match(text):
            self._held = text[opening.end() :]
            self._closing = _TAGS.get(opening[0], _STRIPPED_CLOSING)
            self._is_settled = True
            self._read = self._read_tagged
            return True
        if text.startswith(_HARMONY):
            self._held, self._read = text, self._read_harmony
            return True
        may_open = any(one.startswith(text) for one in (*_OPENINGS, _STRIPPED_OPENING))
        if may_open and not is_end:
            return False
        self._read = self._read_plain if self._is_settled else self._read_watching
        return True

    def _read_tagged(self, is_end: bool) -> bool:
        before, closing, after = self._held.partition(self._closing)
        if closing:
            self._think(before)
            self._held = after
            self._read = self._read_after
            return True
        self._think(
            self._take(len(self._held) - (0 if is_end else partial_mark(before, (self._closing,))))
        )
        return False

    def _read_after(self, is_end: bool) -> bool:
        self._held = self._held.lstrip()
        if self._held:
            self._read = self._read_start
        return bool(self._held)

    def _read_unopened(self, is_end: bool) -> bool:
        if self._held[:_MAX_LEAD].lstrip().startswith(_OPENINGS):
            self._read = self._read_start
            return True
        found = _LONE_CLOSING.search(self._held, self._searched)
        self._searched = max(0, len(self._held) - _MAX_LEAD)
        if found and (is_end or found.end() < len(self._held)):
            self._close_unopened(found)
            return True
        if is_end:
            self._read = self._read_plain
        return is_end

    def _read_watching(self, is_end: bool) -> bool:
        """Read the answer until a lone closing tag reveals that the text was reasoning."""
        found = _LONE_CLOSING.search(self._held)
        if found and not is_end and found.end() == len(self._held):
            return False  # what follows decides
        if found and not self._is_mention(found.start()):
            self._close_unopened(found)
            return True
        text = self._take(len(self._held) - (0 if is_end else partial_mark(self._held, _WATCHED)))
        self._ticks += text.count("`")
        self._mentions_tag = self._mentions_tag or any(one in text for one in _TAGS)
        self._sent = self._sent or bool(text.strip())
        self._add_answer_text(text)
        return False

    def _is_mention(self, place: int) -> bool:
        before = self._held[:place]
        is_code = (self._ticks + before.count("`")) % 2 == 1
        return is_code or self._mentions_tag or any(one in before for one in _TAGS)

    def _close_unopened(self, closing: re.Match[str]) -> None:
        self.was_unopened = True
        before, self._held = self._held[: closing.start()], self._held[closing.end() :]
        self._is_settled = True
        self._think(before)
        if self._sent:  # it can't be revoked
            self._add_answer_text("\n\n")
        self._read = self._read_after

    def _read_plain(self, is_end: bool) -> bool:
        self._add_answer_text(self._take(len(self._held)))
        return False

    def _read_harmony(self, is_end: bool) -> bool:
        found = _HARMONY_TOKEN.search(self._held)
        if found is None:
            held = 0 if is_end else partial_mark(self._held, _HARMONY_TOKENS)
            if self._in_body:
                self._end_part(self._take(len(self._held) - held), mark="")
            elif is_end:
                self._held = ""
            return False
        part = self._take(found.end())[: found.start()]
        mark = found[1]
        if self._in_body:
            self._end_part(part, mark=mark)
        else:
            self._header += part
        if mark == "message":
            self._in_body = True
        elif self._in_body or mark == "start":
            self._in_body = False
            self._header = ""
        return True

    def _end_part(self, text: str, *, mark: str) -> None:
        if recipient := _RECIPIENT.search(self._header):
            self._call_text += text
            self._limits.count_arguments(text)
            if mark:
                self._call(recipient[1])
        elif "analysis" in self._header:
            self._think(text)
        else:
            self._add_answer_text(text)

    def _call(self, name: str) -> None:
        self._limits.count_call()
        self._calls += 1
        arguments, self._call_text = read_arguments_text(self._call_text), ""
        id = f"text{self._calls:05}"
        self._found.append(ToolCall(id=id, name=name, arguments=arguments))


def partial_mark(text: str, marks: Collection[str]) -> int:
    """Return the number of characters at the end of a text that may begin one of the marks."""
    firsts = {mark[0] for mark in marks}
    tail = text[1 - max(map(len, marks)) :]
    for start, character in enumerate(tail):
        if character in firsts:
            rest = tail[start:]
            if any(mark.startswith(rest) for mark in marks):
                return len(rest)
    return 0
