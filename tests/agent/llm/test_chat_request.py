"""What a server is sent that speaks the OpenAI API."""

from dataclasses import replace

from copilot_admin.agent.llm.chat_request import RequestRules, build_request
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelImage,
    ModelMessage,
    ModelRole,
    ToolCall,
    ToolSchema,
)


def test_request_holds_messages_tools_and_parameters_but_no_foreign_model():
    call = ModelCall(
        model="m",
        messages=(
            ModelMessage(role=ModelRole.SYSTEM, text="s"),
            ModelMessage(
                role=ModelRole.ASSISTANT,
                text="",
                tool_calls=(ToolCall(id="1", name="t", arguments=""),),
            ),
            ModelMessage(role=ModelRole.TOOL, text="r", tool_call_id="1"),
        ),
        tools=(ToolSchema(name="t", description="d", parameters={"type": "object"}),),
        parameters={"temperature": 0.2, "model": "other", "stream": False, "n": 3},
    )
    assert build_request(call, RequestRules(with_usage=True)) == {
        "temperature": 0.2,
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "content": "r", "tool_call_id": "1"},
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
    assert "stream_options" not in build_request(call, RequestRules(with_usage=False))
    named = replace(call, user="ada", parameters={"user": "eve"})
    assert build_request(named, RequestRules(with_usage=False))["user"] == "ada"


def test_images_are_parts_of_a_message_between_the_marks_of_data():
    image = ModelImage(name='a"b.png', url="data:image/png;base64,AAAA")
    messages = (
        ModelMessage(role=ModelRole.USER, text="What is it?", images=(image,)),
        ModelMessage(role=ModelRole.USER, text="", images=(image,)),
    )
    sent = build_request(ModelCall(model="m", messages=messages), RequestRules(with_usage=False))
    parts = [
        {"type": "text", "text": '<data image="a\\"b.png">'},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "</data>"},
    ]
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, *parts]},
        {"role": "user", "content": parts},
    ]
