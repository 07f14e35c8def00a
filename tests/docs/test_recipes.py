"""The recipes of docs/extending.md: each is put into the product and used."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
import re
import subprocess
import sys
from textwrap import dedent
from types import ModuleType
from typing import Any
from urllib.parse import urljoin

from django.test import AsyncClient, Client
import pytest

from copilot_admin.admin.transcripts.columns import COLUMNS
from copilot_admin.agent.client_functions import registry as client_functions
from copilot_admin.agent.components import registry as components
from copilot_admin.agent.documents import registry as documents
from copilot_admin.agent.files import file_reader
from copilot_admin.agent.providers import registry as providers
from copilot_admin.agent.tools import registry as tools
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.component_calls.files import read_upload
from copilot_admin.config.roles import Role
from copilot_admin.copilots.checklist.checklist import CHECKS
from copilot_admin.import_export.schema import validate
from copilot_admin.models import Copilot, Event, EventType
from copilot_admin.runs.run_output import frames_of
from copilot_admin.transcripts.filters import FILTERS
from copilot_admin.transcripts.store.run_events import event_content
from protocol.events import FunctionCall
from protocol.features import FEATURES
from protocol.json import Json, JsonObject
from protocol.models import Generation
from tests.agent.answer_requests import make_query, make_request, make_spec, outputs_of
from tests.agent.client_functions.samples import FULL_QUERY
from tests.agent.scripted import ScriptedProvider, call, text
from tests.alerts.alerting import NOON, count, make_rule
from tests.alerts.alerting import evaluate as evaluate_rules
from tests.component_calls.component_http import ask
from tests.factories import (
    make_copilot,
    make_key,
    make_provider,
    make_published,
    make_user,
    make_version,
)
from tests.streams import read
from tests.transcripts.store.journaling import Client as Caller

ROOT = Path(__file__).parents[2]
_RECIPE = re.compile(
    r"^(?:Save as|Add to)[^\n]*?`([\w/]+/\w+\.py)`[^\n]*:\n\n```python\n(.*?)```",
    re.MULTILINE | re.DOTALL,
)
# Code by the file of the product that it belongs to.
RECIPES = dict(_RECIPE.findall((ROOT / "docs" / "extending.md").read_text()))
NEW_FILES = tuple(path for path in RECIPES if not (ROOT / path).exists())


def import_product(path: str) -> ModuleType:
    """Import a module of the product by its path."""
    return import_module(path.removesuffix(".py").replace("/", "."))


def write(path: str, folder: Path) -> tuple[ModuleType, Path]:
    """Write a new file below a folder; return its package and the new folder of the package."""
    target = folder / path
    target.parent.mkdir(parents=True)
    target.write_text(RECIPES[path])
    return import_product(str(Path(path).parent)), target.parent


def execute(path: str) -> dict[str, Any]:
    """Execute definitions as if they stood at the end of their module; return its names."""
    names = dict(vars(import_product(path)))
    exec(dedent(RECIPES[path]), names)  # noqa: S102  # our own document
    return names


def evaluate(path: str) -> Any:
    """Evaluate a row as if it stood in its module."""
    return eval(RECIPES[path], dict(vars(import_product(path))))  # noqa: S307  # our own document


SCANS = (components.registry,)
ADMIN = "/admin/copilot_admin/"
Install = Callable[[str], ModuleType]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Add the new file of a recipe to its folder and import it."""
    names: list[str] = []

    def add(path: str) -> ModuleType:
        package, directory = write(path, tmp_path)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(directory)])
        names.append(f"{package.__name__}.{Path(path).stem}")
        for scan in SCANS:
            scan.cache_clear()
        return import_module(names[-1])

    yield add
    for name in names:
        sys.modules.pop(name, None)
    for scan in SCANS:
        scan.cache_clear()


def replace_everywhere(monkeypatch: pytest.MonkeyPatch, old: object, new: object) -> None:
    """Replace a registry in every module that has imported it."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith(("copilot_admin.", "protocol.")):
            for name in [name for name, value in vars(module).items() if value is old]:
                monkeypatch.setattr(module, name, new)


def page(path: str, role: Role) -> str:
    """Open a page of the admin."""
    client = Client()
    client.force_login(make_user(role))
    return unescape(client.get(urljoin(ADMIN, path)).content.decode())


def test_every_recipe_is_tested() -> None:
    source = Path(__file__).read_text()
    assert [path for path in RECIPES if f'"{path}"' not in source] == []
    assert len(RECIPES) == 11


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_new_files_are_formatted(tmp_path: Path, command: tuple[str, ...]) -> None:
    for path in NEW_FILES:
        write(path, tmp_path)
    ruff = [sys.executable, "-m", "ruff", *command, "--config", "pyproject.toml", str(tmp_path)]
    done = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_provider_is_offered_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe: dict[str, Any] = {}
    exec(RECIPES["copilot_admin/agent/providers/echo.py"], recipe)  # noqa: S102  # our own document
    echo = recipe["Echo"]
    monkeypatch.setattr(providers, "PROVIDERS", (*providers.PROVIDERS, echo))
    form = page("provider/add/", Role.OPERATORS)
    assert "Echo (repeats the question)" in form
    validate({"format": 1, "providers": [{"name": "Mirror", "kind": "echo"}]})
    make_published(slug="mirror", provider=make_provider(kind="echo"), model="echo")
    body = {"messages": [{"role": "human", "content": "Who is there?"}]}
    assert read(AsyncClient(), "/v1/copilots/mirror/query", body) == [
        ("copilotMessageChunk", {"delta": "Who is there?"})
    ]


def test_an_event_is_sent_and_stored() -> None:
    event = execute("protocol/events.py")["Forecast"](place="Oslo", days=({"high": 4},))
    data = {"place": "Oslo", "days": [{"high": 4}]}
    frame = b'event: copilotForecast\ndata: {"place":"Oslo","days":[{"high":4}]}\n\n'
    assert frames_of(event, Generation.THREE) == frame
    assert frames_of(event, Generation.TWO) == b""
    assert event_content(event) == ("other", {"event": "copilotForecast", "data": data})


def test_a_feature_is_advertised(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    feature = evaluate("protocol/features.py")
    replace_everywhere(monkeypatch, FEATURES, (*FEATURES, feature))
    make_published(slug="news")
    Copilot.objects.update(features={"my-feature": True})
    make_version(Copilot.objects.get())
    assert client.get("/agents.json").json()["news"]["features"]["my-feature"] is True


def test_a_tool_is_offered_and_runs(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    module = install("copilot_admin/agent/tools/current_time.py")
    monkeypatch.setattr(tools, "TOOLS", (*tools.TOOLS, module.current_time))
    form = page("copilot/add/", Role.BUILDERS)
    assert 'value="current_time"' in form
    assert "Return the day and time in a time zone." in form
    script = [call("current_time", zone="Mars"), call("current_time", zone="UTC"), text("Late.")]
    with ScriptedProvider(script) as provider:
        outputs_of(make_request(provider, spec=make_spec(tools=("current_time",))))
    first, second, third = provider.calls
    assert [tool.name for tool in first.tools] == ["current_time"]
    assert second.messages[-1].text == "There is no time zone 'Mars'. Use a name such as UTC."
    assert third.messages[-1].text.endswith(" in UTC.")


def test_a_component_is_in_the_catalogue_and_answers(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = install("copilot_admin/agent/components/word_count.py")
    monkeypatch.setattr(components, "COMPONENTS", (*components.COMPONENTS, module.WordCount))
    components.registry.cache_clear()
    assert "Count the words of a text." in page("../components/", Role.BUILDERS)
    body = {"parameters": {"text": "three short words"}}
    reply = ask("/word_count", body, key=make_key()[1])
    assert (reply.status, reply.words) == (200, "3 words")


def test_a_client_function_is_offered_and_ends_the_step(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = install("copilot_admin/agent/client_functions/open_link.py")
    functions = (*client_functions.CLIENT_FUNCTIONS, module.OpenLink)
    monkeypatch.setattr(client_functions, "CLIENT_FUNCTIONS", functions)
    with ScriptedProvider([text("Hello.")]) as provider:
        outputs_of(make_request(provider, query=make_query()))
    assert provider.calls[0].tools == ()
    with ScriptedProvider([call("open_link", url="https://openbb.co")]) as provider:
        [event] = outputs_of(make_request(provider, query=FULL_QUERY))
    assert "open_link" in {tool.name for tool in provider.calls[0].tools}
    assert isinstance(event, FunctionCall)
    assert (event.function, event.input_arguments) == ("open_link", {"url": "https://openbb.co"})


@pytest.fixture
def srt_reader(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process: a child wouldn't find the new document type."""
    module = install("copilot_admin/agent/documents/srt.py")
    monkeypatch.setattr(documents, "FORMATS", (*documents.FORMATS, module.SRT))

    async def run(
        order: JsonObject, body: bytes | str, *, on_reply: Callable[[Json], None]
    ) -> None:
        for reply in file_reader.perform(order, body.encode() if isinstance(body, str) else body):
            on_reply(reply)

    monkeypatch.setattr(file_reader.POOL, "run", run)


@pytest.mark.usefixtures("srt_reader")
def test_a_document_type_is_read_from_uploads_and_queries() -> None:
    data = b"1\r\n00:00:01,000 --> 00:00:02,500\r\nRates rose.\r\n"
    assert read_upload(data, name="report.SRT").parts == (("", "Rates rose."),)
    make_published(slug="reader", provider=make_provider())
    item = {"content": b64encode(data).decode(), "data_format": {"data_type": "srt"}}
    call_text = '{"function": "get_widget_data", "input_arguments": {}}'
    result = {"function": "get_widget_data", "input_arguments": {}, "data": [{"items": [item]}]}
    body: dict[str, Any] = {
        "messages": [
            {"role": "human", "content": "What rose?"},
            {"role": "ai", "content": call_text},
            {"role": "tool", **result},
        ]
    }
    assert read(AsyncClient(), "/v1/copilots/reader/query", body)
    (payload,) = Event.objects.filter(type=EventType.FILE).values_list("payload", flat=True)
    assert payload is not None
    assert (payload["type"], payload["pages"]) == ("srt", 1)


def test_a_filter_is_asked_and_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, added in evaluate("copilot_admin/transcripts/filters.py").items():
        monkeypatch.setitem(FILTERS, name, added)
    Caller().ask("Only one question").answer("-")
    assert "Questions from" in page("conversation/", Role.REVIEWERS)
    assert "Only one question" in page("conversation/?turns-from=1", Role.REVIEWERS)
    assert "Only one question" not in page("conversation/?turns-from=2", Role.REVIEWERS)


def test_a_column_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    column = execute("copilot_admin/admin/transcripts/columns.py")["REQUESTS"]
    replace_everywhere(monkeypatch, COLUMNS, (*COLUMNS, column))
    Caller().ask("When?").answer("-")
    assert 'name="column" value="requests"' in page("conversation/", Role.REVIEWERS)


def test_a_check_is_reported_before_publishing(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = install("copilot_admin/copilots/checklist/capitals.py")
    replace_everywhere(monkeypatch, CHECKS, (*CHECKS, module.find_capitals))
    copilot = make_copilot(name="NEWS")
    publish = page(f"copilot/publish/?id={copilot.pk}", Role.BUILDERS)
    assert "The name is in capital letters. Use ordinary ones." in publish


def test_an_alert_rule_is_offered_and_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = execute("copilot_admin/alerts/rule_kinds.py")["REJECTIONS"]
    replace_everywhere(monkeypatch, RULE_KINDS, {**RULE_KINDS, kind.name: kind})
    form = page("alertrule/add/?kind=rejections", Role.OPERATORS)
    assert "Requests that a limit rejected within the window." in form
    rule = make_rule(kind="rejections", window="1h", threshold=5)
    count(make_copilot(), refused=7)
    evaluate_rules(NOON)
    assert rule.alerts.get().sentence == "7 requests were rejected"
