"""The recipes of docs/extending.md hold: one file each, and the product takes it up."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
import subprocess
import sys
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.test import AsyncClient, Client
import pytest

from copilot_admin.agent.client_functions import registry as functions
from copilot_admin.agent.client_functions.samples import FULL_QUERY
from copilot_admin.agent.components import registry as components
from copilot_admin.agent.documents import registry as documents
from copilot_admin.agent.files import file_processes
from copilot_admin.agent.processes.workers import ModuleWorkers
from copilot_admin.agent.providers import registry as providers
from copilot_admin.agent.tools import registry as tools
from copilot_admin.component_calls.files import read_upload
from copilot_admin.config.roles import Role
from copilot_admin.import_export.validation import validate
from copilot_admin.models import Event, EventType
from protocol.events import FunctionCall
from tests.agent.engine_inputs import make_engine_input, make_query, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, call, text
from tests.docs.recipes import package, written
from tests.factories import make_provider, make_published, make_user
from tests.streams import read

ADD = "/admin/copilot_admin"
RECIPES = MappingProxyType(
    {
        "engine/providers": "echo",
        "engine/tools": "current_time",
        "engine/documents": "srt",
        "engine/components": "word_count",
        "engine/client_functions": "open_link",
    }
)
SCANS = (
    providers._providers,
    tools._tools,
    documents._formats,
    components.registry,
    functions._functions,
)
# The contract tests of every registry, what all client functions are asked together, and what a new
# row of the features reaches.
CONTRACTS = (
    "tests/agent/providers/test_providers.py",
    "tests/agent/tools/test_tools.py",
    "tests/agent/documents/test_documents.py",
    "tests/agent/components/test_contract.py",
    "tests/agent/client_functions",
    "tests/agent/client/test_call_budget.py",
    "tests/protocol/test_manifest.py",
    "tests/alerts/test_kinds.py",
    "tests/import_export/test_reading.py",
    "tests/import_export/test_faults.py",
    "tests/import_export/test_faults_of_records.py",
)


# A feature is a row in what the first three look at.
OF_ALL = ("test_manifest", "test_reading", "test_faults", "words_and_labels")


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The files of all recipes, as if they lay in the folders of the product."""
    for room, name in written(tmp_path).items():
        paths = [*package(room).__path__, str(tmp_path / room)]
        monkeypatch.setattr(package(room), "__path__", paths)
        monkeypatch.delattr(package(room), name, raising=False)
    # The processes that read files scan the folder themselves.
    (tmp_path / "worker_with_recipe.py").write_text(
        "from copilot_admin.agent import documents\n"
        f"documents.__path__.append({str(tmp_path / 'engine' / 'documents')!r})\n"
        "from copilot_admin.agent.files.worker import main\n"
        "main()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    workers = ModuleWorkers("worker_with_recipe")
    monkeypatch.setattr(file_processes, "WORKERS", workers)
    _scan_again()
    yield
    workers.stop()
    for room, name in RECIPES.items():
        sys.modules.pop(f"{package(room).__name__}.{name}", None)
    _scan_again()


def _scan_again() -> None:
    for scan in SCANS:
        scan.cache_clear()


def test_every_folder_has_its_recipe(tmp_path: Path) -> None:
    assert written(tmp_path) == RECIPES


def test_the_recipes_are_written_as_everything_else(tmp_path: Path) -> None:
    written(tmp_path)
    for command in (("check",), ("format", "--check")):
        arguments = ["-m", "ruff", *command, "--config", "pyproject.toml", str(tmp_path)]
        done = _python(*arguments)
        assert done.returncode == 0, done.stdout


@pytest.mark.nightly  # each recipe has a test of its own below
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("-k", " or ".join((*RECIPES.values(), *OF_ALL))), id="over what is new"),
        pytest.param((), id="over everything"),
    ],
)
def test_the_contract_tests_run_over_all_of_them_and_pass(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = _python(
        *("-m", "tests.docs.recipes", str(tmp_path), *CONTRACTS, *options),
        *("-v", "-p", "no:cacheprovider", "-p", "no:xdist"),
    )
    assert done.returncode == 0, done.stdout[-5000:]
    for one in ("echo", "current_time", "srt", "word_count-v1", "open_link-1", "refusals"):
        assert one in done.stdout, one


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # our own interpreter, our own files
        [sys.executable, *arguments],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def builder(client: Client, added: None, transactional_db: None) -> Client:
    """Somebody who makes copilots, on a server with the new files."""
    client.force_login(make_user(Role.BUILDERS))
    return client


def page(client: Client, path: str) -> str:
    return client.get(f"{ADD}/{path}").content.decode()


def test_a_new_provider_can_be_chosen_and_answers(builder: Client) -> None:
    operator = Client()
    operator.force_login(make_user(Role.OPERATORS))
    assert '<option value="echo">Echo (says what it was asked)</option>' in page(
        operator, "provider/add/"
    )
    validate({"format": 1, "providers": [{"name": "Mirror", "kind": "echo"}]})
    make_published(slug="mirror", provider=make_provider(kind="echo"), model="echo")
    body = {"messages": [{"role": "human", "content": "Who is there?"}]}
    assert read(AsyncClient(), "/v1/copilots/mirror/query", body) == [
        ("copilotMessageChunk", {"delta": "Who is there?"})
    ]


def test_a_new_tool_is_offered_to_builders_and_models_and_runs(builder: Client) -> None:
    form = page(builder, "copilot/add/")
    assert 'value="current_time"' in form
    assert "Says what day and time it is in a time zone." in form
    script = [call("current_time", zone="Mars"), call("current_time", zone="UTC"), text("Late.")]
    spec = make_spec(tools=("current_time",))
    with ScriptedProvider(script) as provider:
        outputs_of(make_engine_input(provider, spec=spec))
    first, second, third = provider.calls
    assert [tool.name for tool in first.tools] == ["current_time"]
    assert second.messages[-1].text == "There is no time zone 'Mars'. Use a name such as UTC."
    assert third.messages[-1].text.endswith(" in UTC.")


def test_a_new_kind_of_rule_can_be_chosen_and_watches(builder: Client) -> None:
    operator = Client()
    operator.force_login(make_user(Role.OPERATORS))
    assert "Requests that a limit turned away" in page(operator, "alertrule/add/")
    assert "From (number)" in page(operator, "alertrule/add/?kind=refusals")


def test_a_new_kind_of_file_is_read_wherever_it_comes_from(builder: Client) -> None:
    data = b"1\r\n00:00:01,000 --> 00:00:02,500\r\nRates rose.\r\n"
    assert read_upload(data, name="report.SRT").parts == (("", "Rates rose."),)
    make_published(slug="reader", provider=make_provider())
    item = {"content": b64encode(data).decode(), "data_format": {"data_type": "srt"}}
    body: dict[str, Any] = {
        "messages": [
            {"role": "human", "content": "What rose?"},
            {"role": "ai", "content": '{"function": "get_widget_data", "input_arguments": {}}'},
            {
                "role": "tool",
                "function": "get_widget_data",
                "input_arguments": {},
                "data": [{"items": [item]}],
            },
        ]
    }
    assert read(AsyncClient(), "/v1/copilots/reader/query", body)
    (event,) = Event.objects.filter(type=EventType.FILE)
    assert event.payload == {
        "name": "without a name (srt)",
        "type": "srt",
        "size": len(data),
        "pages": 1,
    }


def test_a_new_client_function_is_offered_where_it_can_be_called_and_ends_the_leg(
    added: None,
) -> None:
    with ScriptedProvider([text("Hello.")]) as provider:
        outputs_of(make_engine_input(provider, query=make_query()))
    assert provider.calls[0].tools == ()
    with ScriptedProvider([call("open_link", url="https://openbb.co")]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert isinstance(event, FunctionCall)
    assert "open_link" in {tool.name for tool in provider.calls[0].tools}
    assert (event.function, event.input_arguments) == ("open_link", {"url": "https://openbb.co"})
