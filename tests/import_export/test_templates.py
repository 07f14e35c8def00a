"""Each template does what it is for: made, published, asked as Workspace asks, with a scripted model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import threading
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import AsyncClient
import pytest

from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.copilots.publishing import publish
from copilot_admin.import_export.templates import templates
from copilot_admin.models import Copilot, Feedback, Provider, Turn
from tests.agent.files.sample_files import SENTENCE, base64, pdf
from tests.agent.scripted import ScriptedProvider, Step, ToolsInPlainText, call, text
from tests.api.test_query import post, script
from tests.factories import make_copilot, make_provider
from tests.workspace import client
from tests.workspace.client import Workspace, named, text_of

pytestmark = pytest.mark.django_db(transaction=True)

UUID = "91ae1153-7b4d-451c-adc5-49856e90a0e6"
PRICE = {
    "uuid": UUID,
    "origin": "OpenBB API",
    "widget_id": "stock_price",
    "name": "Stock price",
    "description": "Prices",
    "params": [{"name": "symbol", "type": "string", "current_value": "TSLA"}],
    "metadata": {},
}
NEWS = {**PRICE, "uuid": "11111111-7b4d-451c-adc5-49856e90a0e6", "widget_id": "news", "name": "News",
        "params": []}  # fmt: skip
ROWS = [{"day": "Mon", "price": 1.5, "volume": 3}, {"day": "Tue", "price": 2.5, "volume": 4}]
SELECTED = {"widgets": {"primary": [PRICE], "secondary": [], "extra": []}}
ON_DASHBOARD = {
    "widgets": {"primary": [PRICE], "secondary": [NEWS], "extra": []},
    "workspace_options": {"generative-ui": True},
    "workspace_state": {
        "current_dashboard_info": {
            "id": "d",
            "name": "Morning",
            "current_tab_id": "rates",
            "tabs": [
                {"tab_id": "rates", "widgets": [{"widget_uuid": UUID, "name": "Stock price"}]}
            ],
        }
    },
}


def data_of(*contents: str) -> Any:
    """Answers a call for data: one element for each source."""
    form = {"data_type": "object", "parse_as": "table"}
    return lambda arguments: [
        {"items": [{"content": content, "data_format": form}], "extra_citations": []}
        for content in contents[: len(arguments["data_sources"])]
    ]


def made(template: str, monkeypatch: Any, *steps: Step) -> tuple[str, ScriptedProvider]:
    """The address of a copilot made of a template, and the model that answers for it."""
    call_command("copilots", "new", template, "--slug", template, "--publish")
    return f"/v1/copilots/{template}/query", script(monkeypatch, *steps)


def offered(provider: ScriptedProvider, number: int = 0) -> set[str]:
    return {tool.name for tool in provider.calls[number].tools}


def test_the_prompt_optimizer_answers_with_the_better_prompt_alone(monkeypatch):
    path, provider = made("prompt-optimizer", monkeypatch, text("You are ", "an analyst."))
    [events] = Workspace(path=path).ask("tell me about nvidia")
    assert (
        events
        == [
            ("copilotMessageChunk", {"delta": "You are an analyst."}),
        ]
        or text_of(events) == "You are an analyst."
    )
    assert {name for name, _ in events} == {"copilotMessageChunk"}
    [made_call] = provider.calls
    assert made_call.messages[-1].text == "tell me about nvidia"
    assert "never answer it" in made_call.messages[0].text
    assert made_call.tools == ()


def test_the_widget_reader_fetches_all_selected_widgets_before_the_model_is_asked(monkeypatch):
    path, provider = made("widget-reader", monkeypatch, text("TSLA rose."))
    workspace = Workspace(
        path=path,
        functions={"get_widget_data": data_of('[{"price": 1}]', "Tesla rises.")},
        request={"widgets": {"primary": [PRICE, NEWS], "secondary": [], "extra": []}},
    )
    first, second = workspace.ask("What moved?")
    [(name, data)] = first
    assert name == "copilotFunctionCall"
    assert data["input_arguments"] == {
        "data_sources": [
            {"widget_uuid": UUID, "origin": "OpenBB API", "id": "stock_price",
             "input_args": {"symbol": "TSLA"}},
            {"widget_uuid": NEWS["uuid"], "origin": "OpenBB API", "id": "news", "input_args": {}},
        ]
    }  # fmt: skip
    assert second == [("copilotMessageChunk", {"delta": "TSLA rose."})]
    result = provider.calls[0].messages[-1].text
    assert '[{"price": 1}]' in result
    assert "Tesla rises." in result


def test_an_error_of_a_widget_is_told_to_the_model_in_words(monkeypatch):
    path, provider = made("widget-reader", monkeypatch, text("It could not be had."))
    error = {"error_type": "not_found", "content": "hit '/price' and returned HTTP 404."}
    workspace = Workspace(
        path=path, functions={"get_widget_data": lambda _: [error]}, request=SELECTED
    )
    _, second = workspace.ask("What moved?")
    assert text_of(second) == "It could not be had."
    assert (
        "(error not_found: hit '/price' and returned HTTP 404.)"
        in provider.calls[0].messages[-1].text
    )


# 1.5 MB, and 15.
@pytest.mark.parametrize("days", [30_000, pytest.param(300_000, marks=pytest.mark.nightly)])
def test_megabytes_of_a_widget_are_cut_between_rows_with_a_notice(monkeypatch, settings, days):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = settings.MAX_BODY_BYTES  # Django's is for forms alone
    path, provider = made("widget-reader", monkeypatch, text("Much."))
    rows = json.dumps([{"day": f"2024-{number:06}", "price": number / 7} for number in range(days)])
    assert len(rows) > 45 * days
    workspace = Workspace(path=path, functions={"get_widget_data": data_of(rows)}, request=SELECTED)
    workspace.ask("What moved?")
    told = provider.calls[0].messages[-1].text
    assert len(told) < 500_000
    assert f"of {days} rows left out: too much data]" in told


def test_reasoning_steps_stand_first_and_last_exactly_as_written(monkeypatch):
    path, _ = made("reasoning-steps", monkeypatch, text("It is a curve."))
    [events] = Workspace(path=path).ask("What is a yield curve?")
    assert events == [
        (
            "copilotStatusUpdate",
            {
                "eventType": "INFO",
                "message": "Starting to answer the question...",
                "group": "reasoning",
                "details": [{"copilot": "Reasoning Steps", "stage": "start"}],
            },
        ),
        ("copilotMessageChunk", {"delta": "It is a curve."}),
        (
            "copilotStatusUpdate",
            {"eventType": "INFO", "message": "Answering complete!", "group": "reasoning"},
        ),
    ]  # fmt: skip


def test_widget_citations_name_each_used_widget_with_its_arguments(monkeypatch):
    path, _ = made("widget-citations", monkeypatch, text("TSLA rose."))
    workspace = Workspace(
        path=path, functions={"get_widget_data": data_of("[1]")}, request=SELECTED
    )
    _, events = workspace.ask("What moved?")
    assert [name for name, _ in events] == ["copilotMessageChunk", "copilotCitationCollection"]
    [citation] = events[1][1]["citations"]
    assert citation.pop("id")
    assert citation == {
        "source_info": {
            "type": "widget",
            "uuid": UUID,
            "origin": "OpenBB API",
            "widget_id": "stock_price",
            "name": "Stock price",
            "description": "Prices",
            "metadata": {"input_args": {"symbol": "TSLA"}},
            "citable": True,
        },
        "details": [{"Name": "Stock price", "symbol": "TSLA"}],
    }


@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "pie", "donut"])
def test_charts_stand_where_they_belong_with_names_of_their_own(kind, monkeypatch):
    x = "price" if kind == "scatter" else "day"
    chart = {"name": "Prices", "description": "By day.", "type": kind, "rows": ROWS, "x": x,
             "y": ["price"]}  # fmt: skip
    path, provider = made(
        "charts", monkeypatch, call("chart", before=("Here: ",), **chart), text("It rose.")
    )
    [events] = Workspace(path=path).ask("Draw it.")
    assert [name for name, _ in events] == [
        "copilotMessageChunk",
        "copilotMessageArtifact",
        "copilotMessageChunk",
    ]
    artifact = events[1][1]
    assert artifact["name"] == "Prices"
    assert artifact["content"] == ROWS
    keys = (
        {"angleKey": "price", "calloutLabelKey": "day"}
        if kind in ("pie", "donut")
        else {"xKey": x, "yKey": ["price"]}
    )
    assert artifact["chart_params"] == {"chartType": kind, **keys}
    assert "chart" in offered(provider)


def test_a_chart_of_keys_that_are_not_in_the_data_is_repaired(monkeypatch):
    wrong = {
        "name": "P",
        "description": "",
        "type": "line",
        "rows": ROWS,
        "x": "date",
        "y": ["price"],
    }
    path, provider = made(
        "charts", monkeypatch, call("chart", **wrong), call("chart", **{**wrong, "x": "day"}), text("x")
    )  # fmt: skip
    [events] = Workspace(path=path).ask("Draw it.")
    assert len(named(events, "copilotMessageArtifact")) == 1
    assert "no column 'date'" in provider.calls[1].messages[-1].text


def test_two_tables_of_one_name_have_names_of_their_own(monkeypatch):
    table = {"name": "Prices", "description": "", "rows": ROWS}
    path, _ = made("tables", monkeypatch, call("table", **table), call("table", **table), text("x"))
    [events] = Workspace(path=path).ask("As tables.")
    one, two = named(events, "copilotMessageArtifact")
    assert one["type"] == two["type"] == "table"
    assert one["content"] == ROWS
    assert [one["name"], two["name"]] == ["Prices", "Prices 2"]


def test_the_dashboard_explorer_knows_tabs_reads_widgets_and_changes_the_dashboard(monkeypatch):
    path, provider = made(
        "dashboard-explorer",
        monkeypatch,
        call("get_widget_data", widgets=[{"id": NEWS["uuid"]}]),
        call("add_generative_widget", widget_type="note", name="Numbers", data="1, 2, 3"),
        text("Done."),
    )
    workspace = Workspace(
        path=path,
        functions={
            "get_widget_data": data_of("Tesla rises."),
            "add_generative_widget": lambda _: [
                {"status": "success", "message": "Added.", "widget_uuid": "w"}
            ],
        },
        request=ON_DASHBOARD,
    )
    first, second, third = workspace.ask("Put three numbers of the news into a note.")
    assert named(first, "copilotFunctionCall")[0]["function"] == "get_widget_data"
    assert named(second, "copilotFunctionCall")[0]["input_arguments"] == {
        "widget_type": "note",
        "data": "1, 2, 3",
        "name": "Numbers",
    }
    assert text_of(third) == "Done."
    system = provider.calls[0].messages[0].text
    assert '"tab": "rates", "open": true' in system
    assert "On the dashboard: News" in system
    assert provider.calls[2].messages[-1].text.startswith('<data source="add_generative_widget">')
    assert {
        "manage_navigation_bar",
        "add_widget_to_dashboard",
        "update_widget_in_dashboard",
    } < offered(provider)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ("❌ Disabled", "short", "unknown")),
        (
            {"deep-research": True, "tone": "long", "house-view": "bullish"},
            ("✅ Enabled", "long", "bullish"),
        ),
        (["deep-research", "tone=long", "house-view=bullish"], ("✅ Enabled", "long", "bullish")),
        ({"deep-research": "yes", "tone": 7}, ("❌ Disabled", "short", "unknown")),
    ],
    ids=["defaults", "dict", "list", "wrong types"],
)
def test_options_reach_the_prompt_with_their_states_and_defaults(options, told, monkeypatch):
    path, provider = made("custom-options", monkeypatch, text("Short."))
    Workspace(path=path, request={"workspace_options": options}).ask("What are your settings?")
    research, tone, view = told
    system = provider.calls[0].messages[0].text
    assert f"Deep Research: {research}\n" in system
    assert f"Tone of the answer: {tone}. House view: {view}." in system


MCP = {
    "server_id": "srv",
    "name": "kb search",
    "url": "https://mcp.example",
    "description": "Searches.",
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    "auth_token": "secret",
}


def test_mcp_tools_are_called_on_both_legs_and_selected_widgets_come_first(monkeypatch):
    path, provider = made(
        "mcp-tools",
        monkeypatch,
        call("kb_search", q="rates"),
        call("kb_search", q="oil"),
        text("Found."),
    )
    workspace = Workspace(
        path=path,
        functions={
            "get_widget_data": data_of("[1]"),
            "execute_agent_tool": lambda _: [
                {"items": [{"content": "A hit."}], "extra_citations": []}
            ],
        },
        request={**SELECTED, "tools": [MCP]},
    )
    legs = workspace.ask("Search.")
    calls = [named(leg, "copilotFunctionCall")[0] for leg in legs[:-1]]
    assert [one["function"] for one in calls] == [
        "get_widget_data",
        "execute_agent_tool",
        "execute_agent_tool",
    ]
    assert calls[1]["input_arguments"] == {
        "server_id": "srv",
        "tool_name": "kb search",
        "parameters": {"q": "rates"},
    }
    assert all("kb_search" in offered(provider, number) for number in range(3))
    assert "A hit." in provider.calls[2].messages[-1].text
    assert text_of(legs[-1]) == "Found."
    assert "secret" not in json.dumps([str(one) for one in provider.calls])


def test_the_client_is_asked_at_most_sixteen_times_for_one_question(monkeypatch):
    monkeypatch.setattr(client, "MOST_LEGS", 20)
    circles = [call("kb_search", q=str(number)) for number in range(17)]
    path, _ = made("mcp-tools", monkeypatch, *circles, text("Enough."))
    workspace = Workspace(
        path=path,
        functions={"execute_agent_tool": lambda _: [{"items": [{"content": "A hit."}]}]},
        request={"tools": [MCP]},
    )
    legs = workspace.ask("Search.")
    assert len(legs) == 17
    [warning] = named(legs[-1], "copilotStatusUpdate")
    assert warning["eventType"] == "WARNING"
    assert "Enough." in text_of(legs[-1])


def test_html_cards_are_cleaned(monkeypatch):
    html = '<div style="padding:4px" onclick="x()">5<script>x</script></div>'
    path, _ = made(
        "html-cards", monkeypatch, call("html", name="Card", description="", html=html), text("x")
    )
    [events] = Workspace(path=path).ask("As cards.")
    [artifact] = named(events, "copilotMessageArtifact")
    card = '<div style="padding:4px">5</div>'
    boxed = f'<div style="height:100%;overflow:auto">{card}</div>'
    assert (artifact["type"], artifact["content"]) == ("html", boxed)


SKILLS = [{"slug": "brief", "description": "Writes a brief.", "updatedAt": "2026-01-01"}]


def test_a_skill_is_loaded_once_and_followed(monkeypatch):
    path, provider = made(
        "skills", monkeypatch, call("get_skill_content", slug="brief"), text("A brief.")
    )
    skill = {"slug": "brief", "description": "", "contentMarkdown": "Three lines.",
             "source": "model_selected"}  # fmt: skip
    workspace = Workspace(
        path=path,
        functions={
            "get_skill_content": lambda _: [{"status": "success", "data": {"skill": skill}}]
        },
        request={"skills_catalog": SKILLS},
    )
    first, second = workspace.ask("Write a brief.")
    assert named(first, "copilotFunctionCall")[0]["input_arguments"] == {"slug": "brief"}
    assert text_of(second) == "A brief."
    assert provider.calls[1].messages[-1].text.endswith("Three lines.")
    assert "get_skill_content" not in offered(provider, 1)


def test_a_forced_skill_is_remembered_in_the_second_leg(monkeypatch):
    path, provider = made("skills", monkeypatch, call("save_skill", name="Memo"), text("Saved."))
    forced = {"slug": "brief", "description": "", "contentMarkdown": "Three lines.",
              "source": "forced_slash"}  # fmt: skip
    workspace = Workspace(
        path=path,
        functions={
            "save_skill": lambda _: [{"status": "success", "data": {"skill": {"slug": "memo"}}}]
        },
        request={"skills_catalog": SKILLS, "selected_skills": [forced]},
    )
    workspace.ask("/skill:brief Save this.")
    for made_call in provider.calls:
        assert any("Three lines." in message.text for message in made_call.messages)
    assert "selected_skills" not in workspace.requests[1]


def test_feedback_lands_on_the_turn_it_is_about(monkeypatch):
    path, _ = made("feedback", monkeypatch, text("Rates."), text("Oil."))
    workspace = Workspace(path=path)
    workspace.ask("What moves bonds?")
    workspace.ask("And energy?")
    judgement = {"vote": "thumbs_down", "tags": ["Other"], "user_comment": "", "trace_id": "",
                 "ai_response": "Rates.", "user_prompt": "What moves bonds?"}  # fmt: skip
    feedback = path.replace("query", "feedback")
    assert post(judgement, path=feedback, X_Trace_Id="chat-1")[0] == 200
    assert Feedback.objects.get().turn == Turn.objects.order_by("id").first()
    agents = json.loads(_document())
    assert agents["feedback"]["endpoints"]["feedback"].endswith("/v1/copilots/feedback/feedback")


def _document() -> bytes:
    async def get() -> bytes:
        return (await AsyncClient().get("/agents.json")).content

    return async_to_sync(get)()


def test_several_calls_in_one_answer_leave_one_after_the_other(monkeypatch):
    both = Step(
        (
            ToolCall(id="1", name="kb_search", arguments='{"q": "a"}'),
            ToolCall(id="2", name="kb_search", arguments='{"q": "b"}'),
            *text("").actions[-1:],
        )
    )
    path, _ = made("mcp-tools", monkeypatch, both, text("Both."))
    workspace = Workspace(
        path=path,
        functions={"execute_agent_tool": lambda _: [{"items": [{"content": "A hit."}]}]},
        request={"tools": [MCP]},
    )
    legs = workspace.ask("Search for both.")
    asked = [
        named(leg, "copilotFunctionCall")[0]["input_arguments"]["parameters"] for leg in legs[:-1]
    ]
    assert asked == [{"q": "a"}, {"q": "b"}]
    assert text_of(legs[-1]) == "Both."


def test_portfolio_commentary_lets_a_model_that_searches_the_web_answer(monkeypatch):
    call_command("copilots", "new", "portfolio-commentary", "--slug", "portfolio-commentary")
    copilot = Copilot.objects.get()
    copilot.custom_features[0]["model"] = "searcher"
    copilot.save()
    publish(copilot, user=None)
    provider = script(monkeypatch, text("Fell."), text("Rose."))
    path = "/v1/copilots/portfolio-commentary/query"
    for options, model, told in (
        ({}, "demo", "off - use the data"),
        ({"web-search": True}, "searcher", "on - use it for news"),
    ):
        workspace = Workspace(
            path=path,
            functions={"get_widget_data": data_of("[1]")},
            request={**SELECTED, "workspace_options": options},
            trace_id=model,
        )
        first, second = workspace.ask("Draft it.")
        assert named(first, "copilotFunctionCall")[0]["function"] == "get_widget_data"
        assert named(second, "copilotCitationCollection")
        assert provider.calls[-1].model == model
        assert told in provider.calls[-1].messages[0].text


def test_the_task_of_an_orchestrator_is_answered_like_a_question(monkeypatch):
    path, provider = made("portfolio-commentary", monkeypatch, text("It fell."))
    task = {"role": "ai", "content": "Comment on June.", "agent_id": "openbb-copilot"}
    workspace = Workspace(path=path, messages=[{"role": "human", "content": "Ask the others."}])
    workspace.messages.append(task)
    events = workspace._post({})
    assert text_of(events) == "It fell."
    assert provider.calls[0].messages[-1].text == "Comment on June."


def test_a_model_without_tool_calling_uses_the_same_tools_in_words(monkeypatch):
    wish = json.dumps(
        {"name": "table", "arguments": {"name": "P", "description": "", "rows": ROWS}}
    )
    call_command("copilots", "new", "tables", "--slug", "tables", "--publish")
    Provider.objects.update(tool_calling="text")
    scripted = ScriptedProvider([text("Here:\n```tool\n", wish, "\n```"), text("It rose.")])
    monkeypatch.setattr(
        "copilot_admin.copilots.live.make_provider", lambda spec: ToolsInPlainText(scripted)
    )
    [events] = Workspace(path="/v1/copilots/tables/query").ask("As a table.")
    assert [name for name, _ in events] == [
        "copilotMessageChunk",
        "copilotMessageArtifact",
        "copilotMessageChunk",
    ]
    assert events[1][1]["content"] == ROWS
    assert "```tool" not in text_of(events)
    told = scripted.calls[1].messages
    assert told[-1].text.startswith("Result of table:\nThe user now sees the table 'P'")
    assert all(made_call.tools == () for made_call in scripted.calls)


# Making copilots of templates


@pytest.mark.parametrize("slug", sorted(templates()))
def test_every_template_can_be_published_at_once_and_tried(slug):
    call_command("copilots", "new", slug, "--slug", f"my-{slug}", "--publish")
    copilot = Copilot.objects.get(slug=f"my-{slug}")
    assert copilot.live is not None
    assert (copilot.name, copilot.description) == (
        templates()[slug].name,
        templates()[slug].entry["description"],
    )
    assert templates()[slug].starters


def test_templates_are_listed_with_what_they_show(capsys):
    call_command("copilots", "templates")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(templates())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["telepathy", "--slug", "a"], "There is no template 'telepathy'."),
        (["charts", "--slug", "taken"], "The slug 'taken' is taken. Choose another."),
        (["charts", "--slug", "A b"], "'A b' does not fit."),
        (["charts", "--slug", "a", "--provider", "x"], "There is no provider 'x'."),
        (["charts", "--slug", "a", "--provider", "local"], "Name a model of the provider 'local'."),
    ],
)
def test_what_cannot_be_made_is_told_and_changes_nothing(arguments, told):
    make_copilot(slug="taken")
    make_provider(name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(CommandError, match=told):
        call_command("copilots", "new", *arguments)
    assert Copilot.objects.count() == 1


def test_provider_and_model_can_be_chosen_and_names_stay_unique():
    make_provider(name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    for slug in ("one", "two"):
        call_command(
            "copilots", "new", "charts", "--slug", slug, "--provider", "local", "--model", "m"
        )
    made_ones = Copilot.objects.order_by("pk").values_list(
        "name", "provider__name", "model", "live"
    )
    assert list(made_ones) == [("Charts", "local", "m", None), ("Charts 2", "local", "m", None)]


def test_without_a_choice_the_demo_provider_is_taken_or_made():
    for name in ("a", "b"):
        make_provider(name=name, kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    call_command("copilots", "new", "charts", "--slug", "charts")
    assert Copilot.objects.get().provider == Provider.objects.get(kind="demo")


def test_a_provider_that_demos_without_its_key_is_passed_over():
    for name in ("Demo model", "b"):
        make_provider(name=name, kind="demo", api_key_env="COPILOT_KEY_NOT_SET")
    call_command("copilots", "new", "charts", "--slug", "charts")
    assert Copilot.objects.get().provider.name == "Demo model 2"
    call_command("copilots", "new", "charts", "--slug", "more")
    assert Copilot.objects.get(slug="more").provider.name == "Demo model 2"


PDF = {"data_type": "pdf", "filename": "report.pdf"}


def file_of(**item: Any) -> Any:
    """Answers a call for data with one file."""
    return lambda _: [{"items": [{"data_format": PDF, **item}], "extra_citations": []}]


def test_the_pdf_reader_gives_the_model_the_pages_of_a_document(monkeypatch):
    path, provider = made("pdf-reader", monkeypatch, text("It rises."))
    content = base64(pdf(["First page."], [SENTENCE]))
    workspace = Workspace(
        path=path, functions={"get_widget_data": file_of(content=content)}, request=SELECTED
    )
    _, events = workspace.ask("What about dividends?")
    assert events[0] == ("copilotMessageChunk", {"delta": "It rises."})
    [[citation]] = [data["citations"] for data in named(events, "copilotCitationCollection")]
    assert "quote_bounding_boxes" not in citation
    assert f"[page 1]\nFirst page.\n[page 2]\n{SENTENCE}" in provider.calls[0].messages[-1].text


def test_an_uploaded_file_is_fetched_by_its_link(monkeypatch, settings):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    path, provider = made("pdf-reader", monkeypatch, text("It rises."))
    upload = {"origin": "OpenBB Hub", "widget_id": "file-1", "name": "report.pdf",
              "description": "", "params": [], "metadata": {}}  # fmt: skip
    with files_served({"/report.pdf": pdf([SENTENCE])}) as address:
        workspace = Workspace(
            path=path,
            functions={"get_widget_data": file_of(url=f"{address}/report.pdf")},
            request={"widgets": {"primary": [upload], "secondary": [], "extra": []}},
        )
        first, second = workspace.ask("What about dividends?")
    [source] = named(first, "copilotFunctionCall")[0]["input_arguments"]["data_sources"]
    assert source == {"origin": "OpenBB Hub", "id": "file-1", "input_args": {}}
    assert text_of(second) == "It rises."
    assert SENTENCE in provider.calls[0].messages[-1].text


def test_a_link_that_has_expired_is_told_to_the_user_and_to_the_model(monkeypatch, settings):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    path, provider = made("pdf-reader", monkeypatch, text("It cannot be read."))
    with files_served({}) as address:
        workspace = Workspace(
            path=path,
            functions={"get_widget_data": file_of(url=f"{address}/gone.pdf")},
            request=SELECTED,
        )
        _, events = workspace.ask("What about dividends?")
    [warning] = named(events, "copilotStatusUpdate")
    assert warning["message"] == (
        "The file 'report.pdf' could not be read. The link has expired or is not open: the server "
        "answered 404."
    )
    assert warning["message"] in provider.calls[0].messages[-1].text


def test_pdf_citations_mark_the_quoted_sentence_on_its_page(monkeypatch):
    path, _ = made("pdf-citations", monkeypatch, text(f"It says: “{SENTENCE}” (page 2)"))
    content = base64(pdf(["First page."], [SENTENCE]))
    workspace = Workspace(
        path=path, functions={"get_widget_data": file_of(content=content)}, request=SELECTED
    )
    _, events = workspace.ask("What about dividends?")
    [[citation]] = [data["citations"] for data in named(events, "copilotCitationCollection")]
    assert citation["details"] == [{"Name": "Stock price", "Page": "2", "symbol": "TSLA"}]
    [[box]] = citation["quote_bounding_boxes"]
    assert (box.pop("text"), box.pop("page")) == (SENTENCE, 2)
    assert set(box) == {"x0", "top", "x1", "bottom"}
    assert 71 < box["x0"] < 73
    assert 60 < box["top"] < box["bottom"] < 85


@contextmanager
def files_served(served: Mapping[str, bytes]) -> Iterator[str]:
    """A server on the loopback that hands out these files."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = served.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
