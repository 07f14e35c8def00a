"""Where models and servers put reasoning."""

from copilot_admin.agent.values.model_call import CallExtras
from tests.agent.llm.chunks import called, delta, fragment, stop, words
from tests.agent.llm.conformance.rows import KEPT, PLAIN, Row, call, thought

THINKS_FIRST = {"thinks_first": True}


def carried(**message):
    return CallExtras(model="small", message=message)


def detail(text, **members):
    return {"type": "reasoning.text", "index": 0, "text": text, **members}


FIELDS = (
    Row("reasoning_content", "DeepSeek: reasoning_content", [delta(reasoning_content="hm"), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("reasoning", "OpenRouter: reasoning tokens", [delta(reasoning="hm"), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("reasoning beside empty content", "ollama/ollama: OpenAI compatibility, thinking", [delta(role="assistant", content="", reasoning="hm"), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("reasoning and content in one chunk", KEPT, [delta(content="Hi", reasoning_content="hm"), stop()], [thought("hm"), "Hi"]),
    Row("both members say the same", "OpenRouter: reasoning tokens", [delta(reasoning="hm", reasoning_details=[detail("hm")]), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("details alone", "LionSR/TeXRA PR 2947", [delta(reasoning_details=[detail("h")]), delta(reasoning_details=[detail("m")]), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("details that grow", "archestra-ai/archestra PR 6834", [delta(reasoning_details=[detail("hm, ")]), delta(reasoning_details=[detail("hm, well")]), *words("Hi"), stop()], [thought("hm, well"), "Hi"]),
    Row("details that are summaries", "OpenRouter: reasoning_details", [delta(reasoning_details=[{"type": "reasoning.summary", "summary": "hm"}]), *words("Hi"), stop()], [thought("hm"), "Hi"]),
    Row("details that are encrypted", "OpenRouter: reasoning_details", [delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]), *words("Hi"), stop()], ["Hi"]),
    Row("parts of Mistral", "symfony/ai #2422", [delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]), delta(content=[{"type": "text", "text": "Hi"}]), stop()], [thought("hm"), "Hi"]),
    Row("part of Mistral with plain text", "openclaw/openclaw PR 78868", [delta(content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}]), stop()], [thought("hm"), "Hi"]),
    Row("part of Databricks", "Databricks: reasoning models", [delta(content=[{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]), stop()], [thought("hm"), "Hi"]),
    Row("reasoning alone until the length", "tenstorrent/tt-inference-server #3683", [delta(reasoning_content="hm"), stop("length")], [thought("hm")], finish="length"),
    Row("reasoning between words", "MiniMax-AI/MiniMax-M2: interleaved thinking", [*words("A"), delta(reasoning="hm"), *words("B"), stop()], ["A", thought("hm"), "B"]),
)  # fmt: skip

TAGS = (
    Row("think", "anomalyco/opencode #21515", [*words("<think>\nsecret\n</think>\n\nHello"), stop()], [thought("\nsecret\n"), "Hello"]),
    Row("think in many pieces", "decolua/9router PR 2231", [*words("<th", "ink>sec", "ret</th", "ink>", "\n\n", "Hello"), stop()], [thought("secret"), "Hello"]),
    Row("thinking", "Open WebUI: reasoning tags", [*words("<thinking>hm</thinking>Hi"), stop()], [thought("hm"), "Hi"]),
    Row("thought", "Open WebUI: reasoning tags", [*words("<thought>hm</thought>Hi"), stop()], [thought("hm"), "Hi"]),
    Row("tags of Magistral", "Siddhesh2377/ToolNeuron #78", [*words("[THINK]I weigh[/THINK]Buy nothing."), stop()], [thought("I weigh"), "Buy nothing."]),
    Row("tags of Kimi-VL", "MoonshotAI/Kimi-VL: thinking", [*words("◁think▷hm◁/think▷Hi"), stop()], [thought("hm"), "Hi"]),
    Row("tags of Seed", "ggml-org/llama.cpp PR 16932", [*words("<seed:think>hm</seed:think>Hi"), stop()], [thought("hm"), "Hi"]),
    Row("channel of Gemma", "Google: Gemma, thinking", [*words("<|channel>thought\nhm<channel|>Hi"), stop()], [thought("\nhm"), "Hi"]),
    Row("blanks before the tag", KEPT, [*words("\n\n", "<think>hm</think>", "Hi"), stop()], [thought("hm"), "Hi"]),
    Row("empty thought", "QwenLM/Qwen3: enable_thinking", [*words("<think>\n\n</think>\n\nHi"), stop()], [thought("\n\n"), "Hi"]),
    Row("two thoughts in a row", KEPT, [*words("<think>a</think>\n<think>b</think>Hi"), stop()], [thought("ab"), "Hi"]),
    Row("thought that never ends", "sgl-project/sglang #4711", [*words("<think>hm"), stop("length")], [thought("hm")], finish="length"),
    Row("closing tag alone", "tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark #16", [*words("1. a\n2. b</think>391"), stop()], [thought("1. a\n2. b"), "391"], is_cut_free=False),
    Row("closing tag alone, of a model that is known for it", "vllm-project/vllm #31045", [*words("Okay, ", "one", "</think>\n\n", "2"), stop()], [thought("Okay, one"), "2"], options=THINKS_FIRST),
    Row("no closing tag, of a model that is known for it", "sgl-project/sglang #4711", [*words("Just", " this."), stop()], ["Just this."], options=THINKS_FIRST),
    Row("known for it, but with a field of its own now", "perplexityai/api-discussion #177", [delta(reasoning="hm"), *words("Hi"), stop()], [thought("hm"), "Hi"], options=THINKS_FIRST),
    Row("tag in the code of an answer", "nbramia/LifeOS PR 568", [*words("Use `<think>draft</think>` so:\n```\n<think>x</think>\n```\nDone."), stop()], ["Use `<think>draft</think>` so:\n```\n<think>x</think>\n```\nDone."]),
    Row("closing tag that is mentioned", PLAIN, [*words("The tag </think>, and `</think>`."), stop()], ["The tag </think>, and `</think>`."]),
    Row("answer that begins like a tag", PLAIN, [*words("<th", "e> is no tag"), stop()], ["<the> is no tag"]),
    Row("comparison in an answer", PLAIN, [*words("if a<b and c<d [1]"), stop()], ["if a<b and c<d [1]"]),
)  # fmt: skip

HARMONY = (
    Row("channels", "NousResearch/hermes-agent #84158", [*words("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>The close was 106."), stop()], [thought("hm"), "The close was 106."]),
    Row("channels with a return", "NVIDIA/TensorRT-LLM #9256", [*words("<|start|>assistant<|channel|>final<|message|>Hi<|return|>"), stop()], ["Hi"]),
    Row("preamble on the commentary channel", "vllm-project/vllm #24837", [*words("<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Hi"), stop()], ["I look.Hi"]),
    Row("call on the commentary channel", "waybarrios/vllm-mlx PR 50", [*words('<|channel|>commentary to=functions.calculator <|constrain|>json<|message|>{"expression":"1"}<|call|>'), stop()], [call("calculator", '{"expression":"1"}', id="text00001")], finish="tool_calls"),
    Row("channels without their marks", "Augustas11/macprovider #743", [*words("analysisWe need one word.assistantfinalfour"), stop()], [thought("We need one word."), "four"]),
    Row("word that begins like a channel", PLAIN, [*words("analysis of rates"), stop()], ["analysis of rates"]),
    Row("mark in the name of a tool", "vllm-project/vllm #32587", [called(fragment("table<|channel|>commentary", "{}", id="c")), stop("tool_calls")], [call("table", "{}", id="c")], finish="tool_calls"),
)  # fmt: skip

CARRIED = (
    Row("reasoning of a call", "mastra-ai/mastra #12592", [delta(reasoning_content="h"), delta(reasoning_content="m"), called(fragment("table", "{}", id="c")), stop("tool_calls")], [thought("hm"), call("table", "{}", id="c", extras=carried(reasoning_content="hm"))], finish="tool_calls"),
    Row("details of a call", "lidge-jun/opencodex PR 3132", [delta(reasoning_details=[detail("h", id="r")]), delta(reasoning_details=[detail("m", signature="s")]), called(fragment("table", "{}", id="c")), stop("tool_calls")], [thought("hm"), call("table", "{}", id="c", extras=carried(reasoning_details=[detail("hm", id="r", signature="s")]))], finish="tool_calls"),
    Row("thinking blocks of a gateway", "envoyproxy/ai-gateway PR 2366", [delta(thinking_blocks=[{"signature": "s"}]), called(fragment("table", "{}", id="c")), stop("tool_calls")], [call("table", "{}", id="c", extras=carried(thinking_blocks=[{"signature": "s"}]))], finish="tool_calls"),
    Row("reasoning that nobody wants back", "Groq: reasoning", [delta(reasoning="hm"), called(fragment("table", "{}", id="c")), stop("tool_calls")], [thought("hm"), call("table", "{}", id="c")], finish="tool_calls"),
    Row("signature of a call", "vercel/ai #15550", [called(fragment("table", "{}", id="c", extra_content={"google": {"thought_signature": "S"}})), stop("tool_calls")], [call("table", "{}", id="c", extras=CallExtras(model="small", call={"extra_content": {"google": {"thought_signature": "S"}}}))], finish="tool_calls"),
    Row("signature within the function", KEPT, [delta(tool_calls=[{"id": "c", "function": {"name": "table", "arguments": "{}", "thought_signature": "S"}}]), stop("tool_calls")], [call("table", "{}", id="c", extras=CallExtras(model="small", call={"function": {"thought_signature": "S"}}))], finish="tool_calls"),
    Row("signature behind the arguments", KEPT, [called(fragment("table", "{}", index=0, id="c")), called(fragment(index=0, extra_content={"google": {"thought_signature": "S"}})), stop("tool_calls")], [call("table", "{}", id="c", extras=CallExtras(model="small", call={"extra_content": {"google": {"thought_signature": "S"}}}))], finish="tool_calls"),
)  # fmt: skip

ROWS = (*FIELDS, *TAGS, *HARMONY, *CARRIED)
