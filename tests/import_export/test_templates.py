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

from copilot_admin.copilots.publishing import publish
from copilot_admin.import_export.templates import templates
from copilot_admin.models import Copilot, Provider
from tests.agent.files.sample_files import SENTENCE, base64, pdf
from tests.agent.scripted import ScriptedProvider, Step, call, text
from tests.api.test_query import script
from tests.factories import make_copilot, make_provider
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


# 1.5 MB, and 15.


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


def _document() -> bytes:
    async def get() -> bytes:
        return (await AsyncClient().get("/agents.json")).content

    return async_to_sync(get)()


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
        (["charts", "--slug", "A b"], "slug"),
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
