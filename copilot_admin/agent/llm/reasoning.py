"""Reasoning that models write into their text, separated from the answer as it streams."""

from collections.abc import Callable

import regex

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
_STRIPPED_CLOSING = "assistantfinal"
_ANY_TAG = "|".join(map(regex.escape, _TAGS))
_ANY_HARMONY = "|".join(map(regex.escape, _HARMONY))
_OPENING = regex.compile(rf"\s*({_ANY_TAG}|{_ANY_HARMONY}|analysis(?=[A-Z]))")
# Closing tags whose opening tag is part of the chat template. A mention of one in the text of an
# answer is followed by a blank or a sign.
_CLOSING = r"</think>|</thinking>|\[/THINK\]|◁/think▷"
_LONE_CLOSING = regex.compile(rf"(?:{_CLOSING})(?=[\w\n#*|\[$-])")
_WATCHED = regex.compile(rf"(?P<closing>{_CLOSING})(?=[\w\n#*|\[$-])|{_ANY_TAG}")
_HARMONY_TOKEN = regex.compile(r"<\|(start|channel|message|end|return|call|constrain)\|>")
_RECIPIENT = regex.compile(r"to=(?:functions\.)?([\w.-]+)")


class ReasoningReader:
    """Splits streamed text into reasoning, answer and, for gpt-oss, tool calls.

    If it `thinks_first`, the model's text starts with reasoning without an opening tag. The text is
    buffered until the closing tag arrives.
    """

    def __init__(self, limits: CallLimits, *, thinks_first: bool = False) -> None:
        self.was_unopened = False  # a closing tag arrived alone, so all text before was reasoning
        self._limits = limits
        self._held = ""
        self._found: list[Delta] = []
        self._closing = _LONE_CLOSING
        self._searched = 0  # characters of the buffer that contain no lone closing tag
        self._is_settled = False  # a lone closing tag is no longer possible
        self._ticks = 0  # of code in the answer so far
        self._sent = False  # part of an answer, which can't be revoked
        self._mentions_tag = False
        self._header = ""  # of a message of gpt-oss
        self._in_body = False
        self._call_text = ""
        self._calls = 0
        self._read: Callable[[bool], bool] = self._read_start
        if thinks_first:
            self._read = self._read_unopened

    def feed(self, text: str, *, is_end: bool = False) -> list[Delta]:
        """Return the deltas that are certain after the next piece of text, or all at the end."""
        self._held += text
        while self._held and self._read(is_end):
            pass
        found, self._found = self._found, []
        return found

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

    def _add_answer_text(self, text: str) -> None:
        if text:
            self._ticks += text.count("`")
            self._sent = self._sent or bool(text.strip())
            self._found.append(TextDelta(text))

    def _think(self, text: str) -> None:
        if text:
            self._found.append(ReasoningDelta(text))

    def _take(self, found: regex.Match[str] | None) -> str:
        """Remove and return the text before a mark, and the mark if it is complete."""
        end = found.start() if found else len(self._held)
        taken, self._held = self._held[:end], self._held[end:]
        if found and not found.partial:
            self._held = self._held.removeprefix(found[0])
        return taken

    def _read_start(self, is_end: bool) -> bool:
        found = _OPENING.match(self._held, partial=not is_end)
        if found is None:
            self._read = self._read_plain if self._is_settled else self._read_watching
            return True
        if found.partial:
            return False
        if found[1] in _HARMONY:
            self._held = self._held.lstrip()
            self._read = self._read_harmony
        else:
            self._held = self._held[found.end() :]
            closing = _TAGS.get(found[1], _STRIPPED_CLOSING)
            self._closing = regex.compile(regex.escape(closing))
            self._is_settled = True
            self._read = self._read_tagged
        return True

    def _read_tagged(self, is_end: bool) -> bool:
        found = self._closing.search(self._held, partial=not is_end)
        self._think(self._take(found))
        if not found or found.partial:
            return False
        self._read = self._read_after
        return True

    def _read_after(self, is_end: bool) -> bool:
        self._held = self._held.lstrip()
        if self._held:
            self._read = self._read_start
        return True

    def _read_unopened(self, is_end: bool) -> bool:
        if _OPENING.match(self._held):
            self._read = self._read_start
            return True
        text, start = self._held + "\n" * is_end, self._searched
        found = _LONE_CLOSING.search(text, start, partial=not is_end)
        if found and found.partial:
            self._searched = found.start()
            return False
        if found:
            self._close_unopened(found)
        else:
            self._read = self._read_plain
        return True

    def _read_watching(self, is_end: bool) -> bool:
        """Read the answer until a lone closing tag reveals that the text was reasoning."""
        found = _WATCHED.search(self._held + "\n" * is_end, partial=not is_end)
        if found and found.partial and found[0]:
            return False  # it decides about the text before it
        if not found or found.partial:
            self._add_answer_text(self._take(found))
            return False
        ticks = self._ticks + self._held.count("`", 0, found.start())
        if found["closing"] and ticks % 2 == 0 and not self._mentions_tag:
            self._close_unopened(found)
        else:
            self._mentions_tag = self._mentions_tag or not found["closing"]
            self._add_answer_text(self._take(found) + found[0])
        return True

    def _close_unopened(self, closing: regex.Match[str]) -> None:
        self.was_unopened = self._is_settled = True
        self._think(self._take(closing))
        if self._sent:  # it can't be revoked
            self._add_answer_text("\n\n")
        self._read = self._read_after

    def _read_plain(self, is_end: bool) -> bool:
        self._add_answer_text(self._take(None))
        return False

    def _read_harmony(self, is_end: bool) -> bool:
        found = _HARMONY_TOKEN.search(self._held, partial=not is_end)
        mark = found[1] if found and not found.partial else ""
        part = self._take(found)
        if self._in_body:
            self._end_part(part, mark)
        else:
            self._header += part
        if mark == "message":
            self._in_body = True
        elif mark == "start" or (mark and self._in_body):
            self._in_body = False
            self._header = ""
        return bool(mark)

    def _end_part(self, text: str, mark: str) -> None:
        if recipient := _RECIPIENT.search(self._header):
            self._call_text += text
            self._limits.count_arguments(text)
            if mark:
                self._limits.count_call()
                self._calls += 1
                arguments, self._call_text = read_arguments_text(self._call_text), ""
                id = f"text{self._calls:05}"
                self._found.append(ToolCall(id=id, name=recipient[1], arguments=arguments))
        elif "analysis" in self._header:
            self._think(text)
        else:
            self._add_answer_text(text)
