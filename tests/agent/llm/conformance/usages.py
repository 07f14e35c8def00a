"""Where servers report tokens and costs."""

from decimal import Decimal

from tests.agent.llm.chunks import chunk, stop, words
from tests.agent.llm.conformance.rows import KEPT, Row


def last(source, name, usage, **expected):
    """Usage in a last chunk without choices."""
    wire = [*words("Hi"), stop(), chunk(usage=usage), "[DONE]"]
    return Row(name, source, wire, ["Hi"], usage=expected)


COUNTS = {"prompt_tokens": 100, "completion_tokens": 50}
COUNTED = {"input_tokens": 100, "output_tokens": 50}
ROWS = (
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
    last("Anthropic: usage", "names of Anthropic", {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 64}, **COUNTED, cached_tokens=64),
    last("BerriAI/litellm #13653", "cost of OpenRouter", {**COUNTS, "cost": 0.0123, "cost_details": {"upstream_inference_cost": None}}, **COUNTED, cost=Decimal("0.0123")),
    last("OpenRouter: usage accounting, BYOK", "cost with a key of one's own", {**COUNTS, "cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, **COUNTED, cost=Decimal("0.021")),
    last("Perplexity: usage", "cost of Perplexity", {**COUNTS, "cost": {"total_cost": 0.006}}, **COUNTED, cost=Decimal("0.006")),
    last("xAI: cost_in_usd_ticks", "cost in ticks", {**COUNTS, "cost_in_usd_ticks": 37756000}, **COUNTED, cost=Decimal("0.0037756")),
    last(KEPT, "cost that is no number", {**COUNTS, "cost": "free"}, **COUNTED),
    last(KEPT, "counts with a fraction", {"prompt_tokens": 100.0, "completion_tokens": 50}, **COUNTED),
)  # fmt: skip
