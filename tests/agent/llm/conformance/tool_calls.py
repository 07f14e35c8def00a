"""How models and servers write calls of tools."""

import json

from tests.agent.llm.chunks import called, delta, fragment, stop, words
from tests.agent.llm.conformance.rows import KEPT, PLAIN, Row, call

SUM = '{"expression": "2 + 2"}'
CALC = call("calculator", SUM, id="c")
BOTH = (call("calculator", SUM, id="c"), call("table", "{}", id="d"))
BAR = "\uff5c"


def row(name, source, fragments, deltas=(CALC,), *, finish="tool_calls"):
    """Fragments that come in a chunk each."""
    return Row(name, source, [*map(called, fragments), stop(finish)], deltas, finish=finish)


def written(name, source, text, deltas=None, *, finish="tool_calls", **more):
    """A call that stands in the text."""
    wanted = [call("calculator", SUM, id="text00001")] if deltas is None else deltas
    return Row(name, source, [*words(text), stop()], wanted, finish=finish, **more)


FRAGMENTS = (
    row("in fragments", "OpenAI: chat completions, streaming", [fragment("calculator", "", index=0, id="c"), fragment(None, '{"expression": ', index=0), fragment(None, '"2 + 2"}', index=0)]),
    row("whole", "ollama/ollama: tool calls", [fragment("calculator", SUM, index=0, id="c", type="function")]),
    row("with the reason stop", "ollama/ollama #5796", [fragment("calculator", SUM, index=0, id="c")], finish="stop"),
    row("arguments begin with the name", "agentjido/req_llm PR 801", [fragment("calculator", '{"expres', index=0, id="c"), fragment(None, 'sion": "2 + 2"}', index=0)]),
    row("name in fragments", KEPT, [fragment("calcu", "", index=0, id="c"), fragment("lator", SUM, index=0)]),
    row("name with every fragment", KEPT, [fragment("calculator", '{"expression": ', index=0, id="c"), fragment("calculator", '"2 + 2"}', index=0, id="c")]),
    row("id behind the name", KEPT, [fragment("calculator", "", index=0, id=""), fragment(None, SUM, index=0, id="c")]),
    row("no index", "ollama/ollama #7881", [fragment("calculator", SUM, id="c"), fragment("table", "{}", id="d")], BOTH),
    row("no index, in fragments", "SamSaffron/term-llm PR 314", [fragment("calculator", '{"expression": ', id="c"), fragment(None, '"2 + 2"}')]),
    row("the same index for all", "ollama/ollama #15457", [fragment("calculator", SUM, index=0, id="c"), fragment("table", "{}", index=0, id="d")], BOTH),
    row("the same index and no ids", KEPT, [fragment("calculator", SUM, index=0), fragment("table", "{}", index=0)], [call("calculator", SUM), call("table", "{}", id="made00001")]),
    row("the same id for all", KEPT, [fragment("calculator", SUM, index=0, id="c"), fragment("table", "{}", index=1, id="c")], [CALC, call("table", "{}", id="made00001")]),
    row("no id", KEPT, [fragment("calculator", SUM, index=0)], [call("calculator", SUM)]),
    row("two at once in turns", "OpenAI: parallel tool calls", [fragment("calculator", '{"expression": ', index=0, id="c"), fragment("table", "{}", index=1, id="d"), fragment(None, '"2 + 2"}', index=0)], BOTH),
    row("arguments are an object", "ggml-org/llama.cpp PR 20202", [{"id": "c", "function": {"name": "calculator", "arguments": {"expression": "2 + 2"}}}]),
    row("arguments are null", "ogx-ai/ogx PR 5462", [{"id": "c", "function": {"name": "table", "arguments": None}}], [call("table", "", id="c")]),
    row("arguments are empty", "sigoden/aichat PR 1217", [fragment("table", "", index=0, id="c")], [call("table", "", id="c")]),
    row("name outside of the function", KEPT, [{"id": "c", "name": "calculator", "arguments": SUM, "function": {"arguments": SUM}}]),
    Row("one call that is no list", KEPT, [delta(tool_calls=fragment("calculator", SUM, id="c")), stop("tool_calls")], [CALC], finish="tool_calls"),
    Row("function of old", "OpenAI: function_call", [delta(function_call={"name": "calculator", "arguments": ""}), delta(function_call={"arguments": SUM}), stop("function_call")], [call("calculator", SUM)], finish="function_call"),
    Row("old and new form together", KEPT, [delta(tool_calls=[fragment("calculator", SUM, index=0, id="c")], function_call={"name": "calculator", "arguments": SUM}), stop("tool_calls")], [CALC], finish="tool_calls"),
    Row("call of a document", "OpenAI: chat completions", json.dumps({"choices": [{"message": {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "calculator", "arguments": SUM}}]}, "finish_reason": "tool_calls"}]}).encode(), [CALC], finish="tool_calls", type="application/json"),
    Row("call of an answer that is cut", "can1357/oh-my-pi #9433", [called(fragment("calculator", '{"expr', index=0, id="c"))], [], finish=None),
    Row("call behind words", "OpenAI: chat completions, streaming", [*words("I compute."), called(fragment("calculator", SUM, index=0, id="c")), stop("tool_calls")], ["I compute.", CALC], finish="tool_calls"),
)  # fmt: skip

ARGUMENTS = (
    row("empty object first", "openai/openai-agents-js PR 712", [fragment("calculator", "{}", index=0, id="c"), fragment(None, SUM, index=0)]),
    row("empty object first, with the name again", "BerriAI/litellm #4537", [fragment("calculator", "{}", index=0, id="c"), fragment("calculator", SUM, index=0, id="c")]),
    row("encoded twice", "quarkiverse/quarkus-langchain4j PR 2642", [fragment("calculator", json.dumps(SUM), index=0, id="c")]),
    row("trailing comma", KEPT, [fragment("calculator", '{"expression": "2 + 2",}', index=0, id="c")]),
    row("commas within texts stay", KEPT, [fragment("calculator", '{"expression": "[1,]", "places": 1,}', index=0, id="c")], [call("calculator", '{"expression": "[1,]", "places": 1}', id="c")]),
    row("with the word json before", "tenstorrent/tt-inference-server #3683", [fragment("calculator", f"json\n{SUM}", index=0, id="c")]),
    row("in a fence", "tenstorrent/tt-inference-server #3683", [fragment("calculator", f"```json\n{SUM}\n```", index=0, id="c")]),
    row("line ends within texts", KEPT, [fragment("calculator", '{"expression": "2\n+ 2"}', index=0, id="c")], [call("calculator", '{"expression": "2\\n+ 2"}', id="c")]),
    row("two objects stay what they are", "mcowger/plexus #691", [fragment("calculator", '{"a": 1}{"a": 2}', index=0, id="c")], [call("calculator", '{"a": 1}{"a": 2}', id="c")]),
    row("half an object stays what it is", KEPT, [fragment("calculator", '{"a": ', index=0, id="c")], [call("calculator", '{"a":', id="c")]),
)  # fmt: skip

NAMES = (
    row("prefix functions.", "MoonshotAI/Kimi-K2: tool call guidance", [fragment("functions.calculator", SUM, index=0, id="c")]),
    row("prefix and number", "MoonshotAI/Kimi-K2: tool call guidance", [fragment("functions.calculator:0", SUM, index=0, id="c")]),
    row("prefix default_api", "vercel/ai #15550", [fragment("default_api:calculator", SUM, index=0, id="c")]),
    row("other case", KEPT, [fragment("Calculator", SUM, index=0, id="c")]),
    row("hyphens for underscores", KEPT, [fragment("get-widget-data", "{}", index=0, id="c")], [call("get_widget_data", "{}", id="c")]),
    row("unknown name stays", KEPT, [fragment("functions.sum", "{}", index=0, id="c")], [call("functions.sum", "{}", id="c")]),
)  # fmt: skip

IN_TEXT = (
    written("tag of Hermes and Qwen", "ollama/ollama #5796", f'Let me compute.\n<tool_call>\n{{"name": "calculator", "arguments": {SUM}}}\n</tool_call>', ["Let me compute.\n", call("calculator", SUM, id="text00001")]),
    written("two tags", "jundot/omlx #2565", f'<tool_call>{{"name": "calculator", "arguments": {SUM}}}</tool_call>\n<tool_call>{{"name": "table", "arguments": {{}}}}</tool_call>', [call("calculator", SUM, id="text00001"), "\n", call("table", "{}", id="text00002")]),
    written("tag that never ends", KEPT, f'<tool_call>{{"name": "calculator", "arguments": {SUM}}}'),
    written("arguments as text", "ollama/ollama PR 12413", '<tool_call>{"name": "calculator", "arguments": "{\\"expression\\": \\"2 + 2\\"}"}</tool_call>'),
    written("parameters", "Meta: Llama, JSON tool calling", f'{{"name": "calculator", "parameters": {SUM}}}'),
    written("bare JSON", "jundot/omlx #2565", f'{{"name": "calculator", "arguments": {SUM}}}'),
    written("bare JSON in a fence", KEPT, f'```json\n{{"name": "calculator", "arguments": {SUM}}}\n```'),
    written("bare JSON of a function", KEPT, f'{{"type": "function", "function": {{"name": "calculator", "arguments": {SUM}}}}}'),
    written("list of bare JSON", KEPT, f'[{{"name": "calculator", "arguments": {SUM}}}]'),
    written("JSON that is the answer", PLAIN, '{"name": "Ada", "age": 36}', ['{"name": "Ada", "age": 36}'], finish="stop"),
    written("JSON of a tool that nobody offers", PLAIN, '{"name": "sum", "arguments": {}}', ['{"name": "sum", "arguments": {}}'], finish="stop"),
    written("JSON with words behind", PLAIN, f'{{"name": "calculator", "arguments": {SUM}}} is how', [f'{{"name": "calculator", "arguments": {SUM}}} is how'], finish="stop"),
    written("fence of our convention", KEPT, f'```tool\n{{"name": "calculator", "arguments": {SUM}}}\n```'),
    written("fence that is none of ours", PLAIN, "```tool\nnpm ci\n```\nDone.", ["```tool\nnpm ci\n```\nDone."], finish="stop"),
    written("tag that is mentioned", PLAIN, "Hermes writes `<tool_call>` tags.", ["Hermes writes `<tool_call>` tags."], finish="stop"),
    written("tags of Qwen coder", "ggml-org/llama.cpp #15012", "<tool_call>\n<function=calculator>\n<parameter=expression>\n2 + 2\n</parameter>\n<parameter=places>\n3\n</parameter>\n</function>\n</tool_call>", [call("calculator", '{"expression": "2 + 2", "places": 3}', id="text00001")]),
    written("tags of Qwen coder without the outer one", "ggml-org/llama.cpp PR 16755", "<function=calculator>\n<parameter=expression>\n2 + 2\n</parameter>\n</function>"),
    written("function tag of Llama", "Meta: Llama 3.1, custom tools", f"<function=calculator>{SUM}</function>"),
    written("pairs of GLM", "ggml-org/llama.cpp PR 16932", "<tool_call>calculator\n<arg_key>expression</arg_key>\n<arg_value>2 + 2</arg_value>\n</tool_call>"),
    written("tags of MiniMax", "ggml-org/llama.cpp PR 16932", '<minimax:tool_call>\n<invoke name="calculator">\n<parameter name="expression">2 + 2</parameter>\n</invoke>\n</minimax:tool_call>'),
    written("sections of Kimi", "MoonshotAI/Kimi-K2: tool call guidance", f"<|tool_calls_section_begin|><|tool_call_begin|>functions.calculator:0<|tool_call_argument_begin|>{SUM}<|tool_call_end|><|tool_calls_section_end|>"),
    written("sections of DeepSeek", "tenstorrent/tt-inference-server #3683", f"<{BAR}tool▁calls▁begin{BAR}><{BAR}tool▁call▁begin{BAR}>function<{BAR}tool▁sep{BAR}>calculator\n```json\n{SUM}\n```<{BAR}tool▁call▁end{BAR}><{BAR}tool▁calls▁end{BAR}>"),
    written("newer sections of DeepSeek", "deepseek-ai/DeepSeek-V3.1: tool calls", f"<{BAR}tool▁calls▁begin{BAR}><{BAR}tool▁call▁begin{BAR}>calculator<{BAR}tool▁sep{BAR}>{SUM}<{BAR}tool▁call▁end{BAR}><{BAR}tool▁calls▁end{BAR}>"),
    written("markup of DeepSeek V3.2", "stdapi-ai/stdapi.ai #182", f'<{BAR}DSML{BAR}function_calls><{BAR}DSML{BAR}invoke name="calculator"><{BAR}DSML{BAR}parameter name="expression" string="true">2 + 2</{BAR}DSML{BAR}parameter></{BAR}DSML{BAR}invoke></{BAR}DSML{BAR}function_calls>'),
    written("markup of DeepSeek V4", "TokenRhythm/opensquilla #985", f'<{BAR}DSML{BAR}tool_calls>\n<{BAR}DSML{BAR}invoke name="calculator">\n<{BAR}DSML{BAR}parameter name="expression" string="true">2 + 2</{BAR}DSML{BAR}parameter>\n</{BAR}DSML{BAR}invoke>\n</{BAR}DSML{BAR}tool_calls>'),
    Row("mark that a parser left behind", "stdapi-ai/stdapi.ai #182", [*words(f"I compute.<{BAR}DSML{BAR}function_calls"), called(fragment("calculator", SUM, index=0, id="c")), stop("tool_calls")], ["I compute.", CALC], finish="tool_calls"),
    written("list of Mistral", "mistralai/mistral-common: TOOL_CALLS", f'[TOOL_CALLS][{{"name": "calculator", "arguments": {SUM}}}]'),
    written("name and arguments of newer Mistrals", "mistralai/mistral-common: ARGS", f"[TOOL_CALLS]calculator[ARGS]{SUM}"),
    written("names of newer Mistrals without their marks", "ggml-org/llama.cpp: Mistral, tool calls", f"[TOOL_CALLS]calculator{SUM}[TOOL_CALLS]table{{}}", [call("calculator", SUM, id="text00001"), call("table", "{}", id="text00002")]),
    written("python tag of Llama", "Meta: Llama 3.1, built-in tools", f'<|python_tag|>{{"name": "calculator", "parameters": {SUM}}}'),
    written("list of Nemotron", "NVIDIA: Nemotron, tool calling", f'<TOOLCALL>[{{"name": "calculator", "arguments": {SUM}}}]</TOOLCALL>'),
    written("tag that can't be read", KEPT, "<tool_call>compute!</tool_call>", [call("unreadable-tool-block", "compute!", id="text00001")]),
)  # fmt: skip

ROWS = (*FRAGMENTS, *ARGUMENTS, *NAMES, *IN_TEXT)
