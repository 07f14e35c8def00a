"""How servers frame, end and describe whole answers, and where they report tokens and costs."""

from decimal import Decimal
import json

from copilot_admin.agent.values.model_call import PictureDelta, WebSource, WebSources
from tests.agent.llm.chunks import chunk, delta, event, stop, words
from tests.agent.llm.conformance.rows import KEPT, Row

DOCUMENT = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
PNG = "data:image/png;base64,iVBORw0KGgo="
SOURCES = WebSources(
    (WebSource(url="https://example.com/a"), WebSource(url="https://example.org/b"))
)


def data(*choices, end="\n\n"):
    """Bytes of events with another end of line."""
    return b"".join(b"data: " + json.dumps(one).encode() + end.encode() for one in choices)


FRAMES = (
    Row("plain stream", "OpenAI: chat completions, streaming", [*words("H", "i"), stop(), "[DONE]"], ["Hi"]),
    Row("line ends of Windows", "WHATWG: server-sent events", data(delta(content="Hi"), stop(), end="\r\n\r\n"), ["Hi"]),
    Row("line ends of old Macs", "WHATWG: server-sent events", data(delta(content="Hi"), stop(), end="\r\r"), ["Hi"]),
    Row("no blank after the colon", "WHATWG: server-sent events", b"data:" + json.dumps(delta("stop", content="Hi")).encode() + b"\n\n", ["Hi"]),
    Row("byte order mark", "WHATWG: server-sent events", b"\xef\xbb\xbf" + event(delta("stop", content="Hi")), ["Hi"]),
    Row("names, ids and retry", "WHATWG: server-sent events", b"event: message\nid: 1\nretry: 10\n" + event(delta("stop", content="Hi")), ["Hi"]),
    Row("data over two lines", "WHATWG: server-sent events", b'data: {"choices": [{"delta": {"content": "Hi"},\ndata: "finish_reason": "stop"}]}\n\n', ["Hi"]),
    Row("no blank line between events", KEPT, data(delta(content="Hi"), stop(), end="\n"), ["Hi"]),
    Row("no blank line at the end", KEPT, event(delta(content="Hi")) + b"data: " + json.dumps(stop()).encode(), ["Hi"]),
    Row("comments before the answer", "openai/openai-go #227", [b": OPENROUTER PROCESSING\n\n" * 3, *words("Hi"), stop()], ["Hi"]),
    Row("comment that a gateway packs as data", "mnfst/llm-gateway #2053", [": OPENROUTER PROCESSING", *words("Hi"), stop()], ["Hi"]),
    Row("comments between words", "docker/docker-agent #2349", [*words("H"), b": ping\n\n", *words("i"), stop()], ["Hi"]),
    Row("empty data as a sign of life", KEPT, ["", *words("Hi"), stop()], ["Hi"]),
    Row("blanks around the end mark", KEPT, [*words("Hi"), stop(), "  [DONE] "], ["Hi"]),
    Row("garbage behind the end mark", KEPT, [*words("Hi"), stop(), "[DONE]", "late"], ["Hi"]),
    Row("whole document instead of a stream", "OpenAI: chat completions", json.dumps(DOCUMENT).encode(), ["Hi"], type="application/json"),
    Row("document labelled as a stream", KEPT, json.dumps(DOCUMENT).encode(), ["Hi"]),
    Row("stream labelled as a document", KEPT, [*words("Hi"), stop()], ["Hi"], type="application/json"),
    Row("blank lines before a document", KEPT, b"\n\n \n" + json.dumps(DOCUMENT).encode(), ["Hi"], type="application/json"),
    Row("whole message in a stream", KEPT, [DOCUMENT, "[DONE]"], ["Hi"]),
    Row("pieces called messages", KEPT, [{"choices": [{"message": {"content": one}}]} for one in ("H", "i")] + [stop()], ["Hi"]),
    Row("message repeated behind its pieces", KEPT, [*words("Hi"), chunk({"delta": {}, "message": {"content": "Hi"}, "finish_reason": "stop"})], ["Hi"]),
    Row("text of older completions", KEPT, [chunk({"text": "Hi", "finish_reason": "stop"})], ["Hi"]),
    Row("character in two halves", KEPT, [b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n', b'data: {"choices": [{"delta": {"content": "\\ude00"}}]}\n\n', stop()], ["\U0001f600"]),
    Row("half a character alone", KEPT, [b'data: {"choices": [{"delta": {"content": "A\\ud83d"}}]}\n\n', stop()], ["A\N{REPLACEMENT CHARACTER}"]),
    Row("broken UTF-8", KEPT, [b'data: {"choices": [{"delta": {"content": "A\xff"}}]}\n\n', stop()], ["A\N{REPLACEMENT CHARACTER}"]),
    Row("numbers that JSON has not", KEPT, [b'data: {"timings": NaN, "choices": [{"delta": {"content": "Hi"}}]}\n\n', stop()], ["Hi"]),
)  # fmt: skip

MEMBERS = (
    Row("empty choices first", "langfuse/langfuse #2833", [chunk(prompt_filter_results=[]), *words("Hi"), stop()], ["Hi"]),
    Row("prompt annotations first", "seratch/ChatGPT-in-Slack PR 49", [chunk(prompt_annotations=[{"prompt_index": 0}], usage=None), *words("Hi"), stop()], ["Hi"]),
    Row("filter results behind the words", "Azure OpenAI: content filtering, streaming", [*words("Hi"), stop(), chunk({"finish_reason": None, "content_filter_offsets": {"check_offset": 1}})], ["Hi"]),
    Row("role with empty content first", "OpenAI: chat completions, streaming", [delta(role="assistant", content=""), *words("Hi"), stop()], ["Hi"]),
    Row("delta that is null", KEPT, [chunk({"delta": None}), *words("Hi"), stop()], ["Hi"]),
    Row("no index of the choice", KEPT, [{"choices": [{"delta": {"content": "Hi"}}]}, stop()], ["Hi"]),
    Row("index is text", KEPT, [{"choices": [{"index": "0", "delta": {"content": "Hi"}}]}, stop()], ["Hi"]),
    Row("first of several choices", "OpenAI: chat completions, n", [{"choices": [{"index": 1, "delta": {"content": "Hi"}}]}, {"choices": [{"index": 0, "delta": {"content": "No"}}, {"index": 1, "delta": {}, "finish_reason": "stop"}]}], ["Hi"]),
    Row("empty list of calls with each word", "Portkey-AI/gateway #1338", [delta(role="assistant", content="Hi", tool_calls=[]), stop()], ["Hi"]),
    Row("content in parts", "meilisearch/meilisearch PR 6327", [delta(content=[{"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "Hi"}]), stop()], ["Hi"]),
    Row("content is one part", KEPT, [delta(content={"type": "text", "text": "Hi"}), stop()], ["Hi"]),
    Row("refusal in its own member", "OpenAI: structured outputs, refusals", [delta(refusal="I can't."), stop()], ["I can't."]),
    Row("obfuscation beside the words", "OpenAI: chat completions, include_obfuscation", [chunk({"delta": {"content": "Hi"}}, obfuscation="x7"), stop()], ["Hi"]),
    Row("weights of tokens", "OpenAI: chat completions, logprobs", [chunk({"delta": {"content": "Hi"}, "logprobs": {"content": [{"token": "Hi", "logprob": -1}]}}), stop()], ["Hi"]),
    Row("words of status without choices", KEPT, [{"message": "queued", "code": 0}, *words("Hi"), stop()], ["Hi"]),
    Row("pictures in the delta", "danny-avila/LibreChat #9514", [*words("Here:"), delta(images=[{"type": "image_url", "image_url": {"url": PNG}}]), stop()], ["Here:", PictureDelta(PNG)]),
    Row("nothing but pictures", "OpenRouterTeam/ai-sdk-provider #167", [delta(content="", images=[{"image_url": {"url": PNG}}]), stop()], [PictureDelta(PNG)]),
    Row("picture as a part of the content", "OpenRouter: image generation", [delta(content=[{"type": "image_url", "image_url": {"url": PNG}}]), stop()], [PictureDelta(PNG)]),
    Row("citations beside the choices", "chatboxai/chatbox #2404", [chunk({"delta": {"content": "Rates[1]."}}, citations=["https://example.com/a", "https://example.org/b"]), stop()], ["Rates[1].", SOURCES]),
    Row("citations with every chunk", "sigoden/aichat #1028", [chunk({"delta": {"content": one}}, citations=["https://example.com/a", "https://example.org/b"]) for one in "Hi"] + [stop()], ["Hi", SOURCES]),
    Row("search results with titles", "Perplexity: search_results", [chunk({"delta": {"content": "Hi"}}, search_results=[{"title": "Rates", "url": "https://example.com/a", "snippet": "They rose."}]), stop()], ["Hi", WebSources((WebSource(url="https://example.com/a", title="Rates", text="They rose."),))]),
    Row("annotations of a delta", "BerriAI/litellm PR 13225", [*words("Hi"), delta(content="", annotations=[{"type": "url_citation", "url_citation": {"url": "https://example.com/a", "title": "Rates", "start_index": 0}}]), stop()], ["Hi", WebSources((WebSource(url="https://example.com/a", title="Rates"),))]),
    Row("annotations of a document", "OpenAI: web search in chat completions", json.dumps({"choices": [{"message": {"content": "Hi", "annotations": [{"url_citation": {"url": "https://example.com/a"}}]}, "finish_reason": "stop"}]}).encode(), ["Hi", WebSources((WebSource(url="https://example.com/a"),))], type="application/json"),
    Row("source that is no web page", "Perplexity: citations", [chunk({"delta": {"content": "Hi"}}, citations=["javascript:alert(1)", 7]), stop()], ["Hi"]),
)  # fmt: skip

ENDS = (
    Row("reason with every chunk", "BerriAI/litellm #2195", [*(delta("stop", content=one) for one in ("H", "i", "!")), "[DONE]"], ["Hi!"]),
    Row("empty reason with every chunk", "ollama/ollama #4357", [delta("", content="Hi"), stop("")], ["Hi"], finish=None),
    Row("reason is the word null", "su-kaka/gcli2api #403", [delta("null", content="Hi"), stop()], ["Hi"]),
    Row("end mark without a reason", "open-learning-exchange/planet PR 10281", [*words("Hi"), "[DONE]"], ["Hi"]),
    Row("usage without a reason", KEPT, [*words("Hi"), chunk(usage={"prompt_tokens": 9, "completion_tokens": 2})], ["Hi"], usage={"input_tokens": 9, "output_tokens": 2}),
    Row("neither reason nor end mark", "can1357/oh-my-pi #9433", words("Hi"), ["Hi"], finish=None),
    Row("usage amid an answer that is cut", KEPT, [chunk({"delta": {"content": "Hi"}}, usage={"prompt_tokens": 9, "completion_tokens": 2})], ["Hi"], finish=None, usage={"input_tokens": 9, "output_tokens": 2}),
    Row("longest length", "OpenAI: finish_reason", [*words("Hi"), stop("length")], ["Hi"], finish="length"),
    Row("reason in capitals", "Gemini: finishReason", [*words("Hi"), stop("MAX_TOKENS")], ["Hi"], finish="MAX_TOKENS"),
    Row("cut stays cut", KEPT, [*words("Hi"), stop("length"), stop()], ["Hi"], finish="length"),
    Row("filter of Azure", "Azure OpenAI: content filtering", [*words("Hi"), stop("content_filter")], ["Hi"], finish="content_filter"),
    Row("reason with another one behind it", "Gemini: OpenAI compatibility, content_filter: RECITATION", [*words("Hi"), stop("content_filter: RECITATION")], ["Hi"], finish="content_filter: RECITATION"),
    Row("reason of another vendor", "DeepSeek: finish_reason", [*words("Hi"), stop("insufficient_system_resource")], ["Hi"], finish="insufficient_system_resource"),
    Row("reason eos", "Text Generation Inference: finish_reason", [*words("Hi"), stop("eos_token")], ["Hi"], finish="eos_token"),
    Row("reason that is a list", KEPT, [*words("Hi"), stop(["stop"]), stop()], ["Hi"]),
    Row("body ends amid an event", "earendil-works/pi #5793", [*words("Hi"), b'data: {"choices": [{"del'], ["Hi"], finish=None),
)  # fmt: skip

FAILURES = (
    Row("nothing but the end mark", KEPT, ["[DONE]"], error="ended its answer before it began"),
    Row("nothing that is known", "AWS: modelStreamErrorException", [{"modelStreamErrorException": {"originalMessage": "boom"}}], error="ended its answer before it began", detail="boom"),
    Row("nothing but a role", KEPT, [delta(role="assistant", content=""), "[DONE]"], error="ended its answer before it began"),
    Row("error object", "vercel/ai PR 2720", [{"error": {"message": "boom", "code": 502}}], error="boom|unavailable"),
    Row("error named by its event", "Anthropic: errors in streams", b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n', error="unavailable"),
    Row("error object of vLLM", "vllm-project/vllm: ErrorResponse", [{"object": "error", "message": "boom", "code": 400}], error="refused the request"),
    Row("detail of FastAPI", "FastAPI: HTTPException", [{"detail": "boom"}], error="reported an error"),
    Row("error in a list", KEPT, b'[{"error": {"code": 503, "message": "The model is overloaded."}}]', type="application/json", error="unavailable"),
    Row("status of MiniMax", "MiniMax: base_resp", b'{"choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}', type="application/json", error="is used up", detail="insufficient balance"),
    Row("web page", KEPT, b"<!doctype html>\n<html>Blocked by Zscaler</html>", error="web page", detail="Blocked by Zscaler"),
    Row("no JSON", KEPT, ["hello"], error="not a chat completion", detail="hello"),
)  # fmt: skip


def last(source, name, usage, **expected):
    """Usage in a last chunk without choices."""
    wire = [*words("Hi"), stop(), chunk(usage=usage), "[DONE]"]
    return Row(name, source, wire, ["Hi"], usage=expected)


COUNTS = {"prompt_tokens": 100, "completion_tokens": 50}
COUNTED = {"input_tokens": 100, "output_tokens": 50}
USAGES = (
    last("OpenAI: stream_options", "in the last chunk", COUNTS, **COUNTED),
    Row("with the finish", "BerriAI/litellm #17136", [*words("Hi"), chunk({"delta": {}, "finish_reason": "stop"}, usage=COUNTS)], ["Hi"], usage=COUNTED),
    Row("with every chunk, growing", "ogx-ai/ogx #5122", [chunk({"delta": {"content": one}}, usage={**COUNTS, "completion_tokens": at}) for at, one in enumerate("Hi", 49)] + [stop()], ["Hi"], usage=COUNTED),
    Row("in the choice", "northes/go-moonshot #17", [*words("Hi"), stop(usage=COUNTS)], ["Hi"], usage=COUNTED),
    Row("of Groq", "vercel/ai #1651", [*words("Hi"), {**stop(), "x_groq": {"id": "req", "usage": COUNTS}}], ["Hi"], usage=COUNTED),
    Row("null until the last", "Azure OpenAI: stream_options", [chunk({"delta": {"content": "Hi"}}, usage=None), stop(), chunk(usage=COUNTS)], ["Hi"], usage=COUNTED),
    Row("behind another one that is none", KEPT, [*words("Hi"), chunk(usage=COUNTS), stop(), chunk(usage={})], ["Hi"], usage=COUNTED),
    last("OpenAI: prompt caching", "cached tokens", {**COUNTS, "prompt_tokens_details": {"cached_tokens": 64}}, **COUNTED, cached_tokens=64),
    last("DeepSeek: context caching", "cache hits of DeepSeek", {**COUNTS, "prompt_cache_hit_tokens": 64}, **COUNTED, cached_tokens=64),
    last("Moonshot: context caching", "cached tokens of Moonshot", {**COUNTS, "cached_tokens": 64}, **COUNTED, cached_tokens=64),
    last("OpenAI: reasoning models", "reasoning as a part of the output", {**COUNTS, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 40}}, **COUNTED, reasoning_tokens=40),
    last("xAI: reasoning", "reasoning beside the output", {**COUNTS, "total_tokens": 190, "completion_tokens_details": {"reasoning_tokens": 40}}, input_tokens=100, output_tokens=90, reasoning_tokens=40),
    last("Gemini: OpenAI compatibility, thinking", "reasoning in the total alone", {**COUNTS, "total_tokens": 190}, input_tokens=100, output_tokens=90, reasoning_tokens=40),
    last("Anthropic: usage", "names of Anthropic", {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 64}, **COUNTED, cached_tokens=64),
    last("BerriAI/litellm #13653", "cost of OpenRouter", {**COUNTS, "cost": 0.0123, "cost_details": {"upstream_inference_cost": None}}, **COUNTED, cost=Decimal("0.0123")),
    last("OpenRouter: usage accounting, BYOK", "cost with a key of one's own", {**COUNTS, "cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, **COUNTED, cost=Decimal("0.021")),
    last("Perplexity: usage", "cost of Perplexity", {**COUNTS, "cost": {"total_cost": 0.006}}, **COUNTED, cost=Decimal("0.006")),
    last("xAI: cost_in_usd_ticks", "cost in ticks", {**COUNTS, "cost_in_usd_ticks": 37756000}, **COUNTED, cost=Decimal("0.0037756")),
    last(KEPT, "cost that is no number", {**COUNTS, "cost": "free"}, **COUNTED),
    last(KEPT, "counts with a fraction", {"prompt_tokens": 100.0, "completion_tokens": 50}, **COUNTED),
)  # fmt: skip

ROWS = (*FRAMES, *MEMBERS, *ENDS, *FAILURES, *USAGES)
