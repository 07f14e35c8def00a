"""What a server is sent that speaks the API of OpenAI, and what refusals teach."""

from dataclasses import replace

import pytest

from copilot_admin.agent.llm.chat_request import RequestRules, adapt_rules, build_request
from copilot_admin.agent.values.model_call import (
    CallExtras,
    ModelCall,
    ModelImage,
    ModelMessage,
    ModelRole,
    ToolCall,
    ToolSchema,
)

SYSTEM = ModelMessage(role=ModelRole.SYSTEM, text="Be brief.")
HI = ModelMessage(role=ModelRole.USER, text="Hi")
RESULT = ModelMessage(role=ModelRole.TOOL, text="2", tool_call_id="c")
SIGNATURE = {"extra_content": {"google": {"thought_signature": "S"}}}
UNSIGNED = {"extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
IMAGE = ModelImage(name='a"b.png', url="data:image/png;base64,AAAA")


def calling(*calls, text=""):
    return ModelMessage(role=ModelRole.ASSISTANT, text=text, tool_calls=calls)


def tool_call(id="c", **extras):
    carried = CallExtras(model="m", **extras) if extras else None
    return ToolCall(id=id, name="t", arguments="", extras=carried)


def messages(*given, model="m", **rules):
    call = ModelCall(model=model, messages=given)
    return build_request(call, RequestRules(**rules))["messages"]


def parameters(rules, *, model="m", **given):
    body = build_request(ModelCall(model=model, messages=(), parameters=given), rules)
    return {
        key: value
        for key, value in body.items()
        if key not in ("model", "messages", "stream", "stream_options")
    }


def test_request_holds_messages_tools_and_parameters_but_no_foreign_model():
    call = ModelCall(
        model="m",
        messages=(SYSTEM, calling(tool_call()), RESULT),
        tools=(ToolSchema(name="t", description="d", parameters={"type": "object"}),),
        parameters={"temperature": 0.2, "model": "other", "stream": False, "n": 3},
    )
    assert build_request(call, RequestRules()) == {
        "temperature": 0.2,
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "content": "2", "tool_call_id": "c"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "t", "description": "d", "parameters": {"type": "object"}},
            }
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    needy = RequestRules(needs_tools=True)
    assert build_request(call, needy) == build_request(call, RequestRules())
    without = build_request(replace(call, tools=()), needy)["messages"]
    assert [one["role"] for one in without] == ["system", "assistant", "user"]
    simple = build_request(call, RequestRules(simple_schemas=True))["tools"][0]["function"]
    assert simple["parameters"] == {"type": "object", "properties": {}}
    assert "stream_options" not in build_request(call, RequestRules(with_usage=False))
    whole = build_request(call, RequestRules(streams=False))
    assert (whole["stream"], "stream_options" in whole) == (False, False)
    named = replace(call, user="ada", parameters={"user": "eve"})
    assert build_request(named, RequestRules())["user"] == "ada"


def test_images_are_parts_of_a_message_between_the_marks_of_data():
    parts = [
        {"type": "text", "text": '<data image="a\\"b.png">'},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "</data>"},
    ]
    assert messages(replace(HI, images=(IMAGE,)), replace(HI, text="", images=(IMAGE,))) == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, *parts]},
        {"role": "user", "content": parts},
    ]


def test_what_came_with_a_call_goes_back_with_it_to_the_model_that_made_it():
    called = calling(tool_call(call=SIGNATURE, message={"reasoning_content": "hm"}), tool_call("d"))
    (said,) = messages(called)
    assert said["reasoning_content"] == "hm"
    assert [one.get("extra_content") for one in said["tool_calls"]] == [
        SIGNATURE["extra_content"],
        None,
    ]
    for others in ({"model": "other"}, {"sends_extras": False}):
        (plain,) = messages(called, **others)
        assert plain.keys() == {"role", "content", "tool_calls"}
        assert plain["tool_calls"][0].keys() == {"id", "type", "function"}


def test_members_of_the_function_go_back_too():
    (said,) = messages(calling(tool_call(call={"function": {"signature": "S"}})))
    assert said["tool_calls"][0]["function"] == {"signature": "S", "name": "t", "arguments": "{}"}


@pytest.mark.parametrize(
    ("first", "changes", "is_signed"),
    [
        (tool_call(), {"wants_signatures": True}, True),
        (tool_call(call=SIGNATURE), {}, True),
        (tool_call(), {"model": "google/gemini-3-pro-preview"}, True),
        (tool_call(), {}, False),
    ],
)
def test_calls_without_a_signature_get_the_one_that_is_not_checked(first, changes, is_signed):
    _, said = messages(calling(first), calling(tool_call("a"), tool_call("b")), **changes)
    signed, plain = said["tool_calls"]
    assert signed.get("extra_content") == (UNSIGNED["extra_content"] if is_signed else None)
    assert "extra_content" not in plain  # of several at once the first is signed


def test_where_one_call_has_its_reasoning_all_have_some():
    thoughtful = calling(tool_call(message={"reasoning_content": "hm"}))
    said = messages(calling(tool_call()), thoughtful, HI)
    assert [one.get("reasoning_content") for one in said] == ["(not kept)", "hm", None]
    (wanted,) = messages(calling(tool_call()), wants_reasoning=True)
    assert wanted["reasoning_content"] == "(not kept)"


def test_messages_of_one_role_are_merged_where_the_server_wants_it():
    picture = replace(HI, images=(IMAGE,))
    given = (SYSTEM, HI, HI, calling(tool_call()), RESULT, RESULT, HI, picture)
    assert [one["role"] for one in messages(*given)].count("user") == 4
    merged = messages(*given, merges_messages=True)
    assert [one["role"] for one in merged] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user"),
    ]
    assert merged[-2] == {"role": "assistant", "content": "(no answer)"}  # for Mistral
    assert merged[1]["content"] == "Hi\n\nHi"
    assert [part["type"] for part in merged[-1]["content"]] == [
        *("text", "text", "text", "image_url", "text"),
    ]


def test_the_system_text_opens_the_first_question_where_there_is_no_such_role():
    assert messages(SYSTEM, HI, HI, has_system_role=False) == [
        {"role": "user", "content": "Be brief.\n\nHi"},
        {"role": "user", "content": "Hi"},
    ]
    assert messages(SYSTEM, has_system_role=False) == [{"role": "user", "content": "Be brief."}]
    assert messages(HI, has_system_role=False) == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("gpt-4o", {"max_tokens": 5, "temperature": 0.2, "reasoning_effort": "high"}),
        (
            "gpt-5-chat",
            {"max_completion_tokens": 5, "temperature": 0.2, "reasoning_effort": "high"},
        ),
        ("openai/o3", {"max_completion_tokens": 5, "reasoning_effort": "high"}),
        ("gpt-5", {"max_completion_tokens": 5, "reasoning_effort": "high"}),
    ],
)
def test_models_that_think_get_the_parameters_that_they_take(model, sent):
    given = {"max_tokens": 5, "temperature": 0.2, "reasoning_effort": "high"}
    assert parameters(RequestRules(), model=model, **given) == sent


def test_what_was_learned_of_parameters_is_heeded():
    rules = RequestRules(renames_limit=False, refused=frozenset({"seed"}))
    given = {"max_completion_tokens": 5, "seed": 1, "top_k": 2}
    assert parameters(rules, **given) == {"max_tokens": 5, "top_k": 2}
    rules = RequestRules(renames_limit=True)
    assert parameters(rules, max_tokens=5) == {"max_completion_tokens": 5}
    assert parameters(RequestRules(), max_tokens=5) == {"max_tokens": 5}


SENT = {"model": "m", "messages": [], "tools": [], "temperature": 0.2, "stream_options": {}}


@pytest.mark.parametrize(
    ("refusal", "learned"),
    [
        ("Unrecognized request argument supplied: stream_options", {"with_usage": False}),
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model.",
            {"refused": frozenset({"temperature"})},
        ),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message",
            {"wants_reasoning": True},
        ),
        (
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            {"wants_reasoning": True},
        ),
        ("Function call is missing a thought_signature", {"wants_signatures": True}),
        ("property 'reasoning_content' is unsupported", {"sends_extras": False}),
        ("Unknown parameter: 'messages[1].tool_calls[0].extra_content'.", {"sends_extras": False}),
        (
            'Unknown name "type" at \'tools[0].function_declarations[1].parameters.properties[0]'
            ".value': Proto field is not repeating, cannot start list.",
            {"simple_schemas": True},
        ),
        (
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
            {"needs_tools": True},
        ),
        (
            "Bedrock doesn't support tool calling without `tools=` param specified.",  # LiteLLM
            {"needs_tools": True},
        ),
        ("Your organization must be verified to stream this model.", {"streams": False}),
        ("Conversation roles must alternate user/assistant", {"merges_messages": True}),
        ("Unexpected role 'user' after role 'tool'", {"merges_messages": True}),
        ("System role not supported", {"has_system_role": False}),
        (
            "'messages[0].role' does not support 'system' with this model.",
            {"has_system_role": False},
        ),
        ("registry.ollama.ai/library/gemma does not support tools", {"text_tools": True}),
        ("No endpoints found that support tool use.", {"text_tools": True}),
        ("`tool calling` is not supported with this model", {"text_tools": True}),
        ("tools param requires --jinja flag", {"text_tools": True}),
        ('"auto" tool choice requires --enable-auto-tool-choice', {"text_tools": True}),
    ],
)
def test_a_refusal_teaches_what_to_do_otherwise(refusal, learned):
    rules = RequestRules()
    adapted = adapt_rules(rules, refusal, SENT)
    assert adapted == replace(rules, **learned)
    assert adapt_rules(adapted, refusal, {"model": "m", "messages": []}) is None


@pytest.mark.parametrize(
    "refusal",
    [
        "Unrecognized request argument supplied: top_p",  # OpenAI, Azure
        "Unrecognized request arguments supplied: seed, top_p",
        "temperature and `top_p` cannot both be specified for this model.",  # Anthropic
        "top_p: Extra inputs are not permitted",
        r'{"message": "Invalid JSON payload received. Unknown name \"top_p\": Cannot find field."}',
        "Function tools with top_p are not supported for gpt-5.4 in /v1/chat/completions.",
        "Model incompatible request argument supplied: top_p",
        "Argument not supported on this model: topP",  # xAI
        "Model grok-4 does not support parameter topP.",
        '{"loc": ["body", "top_p"], "msg": "Extra inputs are not permitted"}',  # Mistral
        "ollama does not support parameters: ['top_p'], for model=x.",  # LiteLLM
    ],
)
def test_a_parameter_is_found_in_the_words_of_a_refusal(refusal):
    sent = {**SENT, "top_p": 0.9, "stop": "x"}
    assert adapt_rules(RequestRules(), refusal, sent) == RequestRules(refused=frozenset({"top_p"}))


@pytest.mark.parametrize(
    ("sent", "renames"), [({"max_tokens": 5}, True), ({"max_completion_tokens": 5}, False)]
)
def test_a_limit_of_tokens_gets_the_name_that_the_server_knows(sent, renames):
    refusal = "Use 'max_completion_tokens' or 'max_tokens'."
    assert adapt_rules(RequestRules(), refusal, sent) == RequestRules(renames_limit=renames)


@pytest.mark.parametrize(
    "refusal",
    [
        "The model 'm' does not exist",
        "max_tokens is too large: 900000",
        "`max_tokens` is not supported in this amount",
        "prompt is too long",
        "'temperature' must be at most 2",
    ],
)
def test_other_refusals_teach_nothing(refusal):
    assert adapt_rules(RequestRules(), refusal, {**SENT, "max_tokens": 5}) is None
