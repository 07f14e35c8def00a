"""Trying a component in the admin: the form, the whole result, and the result while it comes."""

from collections.abc import AsyncGenerator
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
import pytest

from copilot_admin.admin.components import trial_form
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import DOCUMENTS, MODEL, SourceDocument
from copilot_admin.agent.components.registry import Registry
from copilot_admin.config.roles import Role
from copilot_admin.errors import ComponentFailed
from protocol.components import ComponentOutput, create_output
from protocol.sse import decode
from tests.admin.pages import Values, merged, values_in
from tests.agent.components.sample_components import Echo
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db
COMPONENTS = "/admin/components/"
FORM = "trial-form"


class Shows(Component):
    """Gives one of everything."""

    name = "shows"
    version = "v2"
    samples = ({"word": "<b>one</b>"}, {"word": "two"})

    async def tool_eval(self, word: str, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Shows a word.

        Args:
            word: Which; "break" breaks down, "refuse" is refused.
        """
        if word == "refuse":
            raise ValueError("Say another <i>word</i>.")
        yield create_output("text", word, visible_scope="llm", raw_data={"secret": "hidden"})
        if word == "break":
            raise ComponentFailed("It <i>broke</i>.")
        yield create_output("text", f"**{word}**", visible_scope="user")
        yield create_output("json", {"data": [{"word": word}]}, visible_scope="user", name="Words")
        yield create_output("urls", "https://example.org/a", visible_scope="user")
        reference = {"title": f"About {word}", "content": "Much.", "source": "Library"}
        yield create_output("references", reference)
        yield create_output("text", "", usage={"total_tokens": 7, "name": "small"}, name="end")


@pytest.fixture(autouse=True)
def components(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Registry((Shows, Echo))
    monkeypatch.setattr("copilot_admin.admin.common.component_words.registry", lambda: found)


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


def read(client: Client, url: str) -> Values:
    return values_in(client.get(url).content.decode(), form_id=FORM)


def tried(client: Client, word: str, **changes: Any) -> str:
    url = f"{COMPONENTS}shows/v2/try/"
    given = {"arguments": json.dumps({"word": word}), **changes}
    response = client.post(url, merged(read(client, url), given))
    assert response.status_code == 200
    return response.content.decode()


def part(page: str, start: str, end: str) -> str:
    return page[page.index(start) : page.index(end, page.index(start))]


def streamed(user: Any, path: str, body: dict[str, Any], **headers: str) -> list[Any]:
    client = AsyncClient()
    client.force_login(user)

    @async_to_sync
    async def ask() -> bytes:
        response: Any = await client.post(path, body, headers=headers)
        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/event-stream")
        return b"".join([piece async for piece in response])

    return [(name, json.loads(data)) for name, data in decode(ask())]


def test_the_form_begins_with_the_first_sample(builder: Client):
    assert json.loads(read(builder, f"{COMPONENTS}shows/v2/try/")["arguments"][0]) == {
        "word": "<b>one</b>"
    }


@pytest.mark.parametrize(
    ("number", "word"),
    [("2", "two"), ("0", "<b>one</b>"), ("x", "<b>one</b>"), ("²", "<b>one</b>")],
)
def test_another_sample_is_a_link_away(builder: Client, number: str, word: str):
    values = read(builder, f"{COMPONENTS}shows/v2/try/?sample={number}")
    assert json.loads(values["arguments"][0]) == {"word": word}


def test_without_scripts_the_page_comes_back_with_the_result(builder: Client):
    page = tried(builder, "<b>x</b>")
    assert "6 outputs" in page and "7 tokens of small" in page
    seen = part(page, "What the user sees", "What the model reads")
    assert "<strong>&lt;b&gt;x&lt;/b&gt;</strong>" in seen
    assert "Words" in seen and "<table" in seen
    assert "About &lt;b&gt;x&lt;/b&gt;" in seen
    told = part(page, "What the model reads", "The merged result")
    assert "&lt;b&gt;x&lt;/b&gt;" in told
    assert page.count("<li><pre") == 6
    assert "hidden" not in part(page, 'id="merged"', "data-ca-trial-more")
    assert "<b>x" not in page


def test_what_the_arguments_lack_is_said_next_to_them(builder: Client):
    page = tried(builder, "refuse")
    assert "Say another &lt;i&gt;word&lt;/i&gt;." in part(page, 'role="alert"', "</div>")
    assert "No output" not in page and "0 outputs" in page


def test_what_broke_is_said_with_what_came_before(builder: Client):
    page = tried(builder, "break")
    assert '<p class="ca-note ca-note-bad">It &lt;i&gt;broke&lt;/i&gt;.</p>' in page
    assert "One output" in page
    assert "Chart maker" not in page


@pytest.mark.parametrize(
    ("word", "read_by_model"),
    [
        ("break", "break\nerror: It &lt;i&gt;broke&lt;/i&gt;."),
        ("refuse", "error: Say another &lt;i&gt;word&lt;/i&gt;."),
        (5, "Wrong arguments for shows: word: 5 is not of type &#x27;string&#x27;."),
    ],
)
def test_what_the_model_would_read_of_a_failure_is_shown(builder: Client, word: Any, read_by_model):
    assert read_by_model in part(tried(builder, word), "What the model reads", "The merged result")


def test_only_builders_try_and_only_what_there_is(client: Client):
    client.force_login(make_user(Role.REVIEWERS, Role.OPERATORS))
    for path in ("shows/v2/try/", "shows/v2/try/stream/"):
        assert client.post(COMPONENTS + path, {"arguments": "{}"}).status_code == 403
    client.force_login(make_user(Role.BUILDERS))
    for path in ("shows/v9/try/", "nobody/v1/try/"):
        assert client.get(COMPONENTS + path).status_code == 404
    assert client.get(f"{COMPONENTS}shows/v2/try/stream/").status_code == 405
    assert client.delete(f"{COMPONENTS}shows/v2/try/").status_code == 405


def test_a_foreign_page_cannot_make_a_try():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user(Role.BUILDERS))
    for path in ("shows/v2/try/", "shows/v2/try/stream/"):
        assert client.post(COMPONENTS + path, {"arguments": "{}"}).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_outputs_stream_as_they_come_and_the_result_last():
    user = make_user(Role.BUILDERS)
    body = {"arguments": '{"word": "<i>"}'}
    *outputs, (name, result) = streamed(user, f"{COMPONENTS}shows/v2/try/stream/", body)
    assert [name for name, _ in outputs] == ["output"] * 6
    first = json.loads(outputs[0][1]["json"])
    assert first == {
        "role": "tool",
        "content": [
            {
                "name": "",
                "visible_scope": "llm",
                "usage": {},
                "metrics": {},
                "type": "text",
                "text": {"info": "<i>"},
            }
        ],
    }
    assert (name, result["more"]) == ("result", False)
    assert "&lt;i&gt;" in result["html"] and "<i>" not in result["html"]


@pytest.mark.django_db(transaction=True)
def test_a_refusal_is_streamed_as_one():
    user, path = make_user(Role.BUILDERS), f"{COMPONENTS}shows/v2/try/stream/"
    refusal, (name, _) = streamed(user, path, {"arguments": '{"word": "refuse"}'})
    assert refusal == ("refusal", {"sentence": "Say another <i>word</i>."})
    assert name == "result"
    assert streamed(user, path, {"arguments": "[]"}) == [
        ("refusal", {"sentence": "Write one JSON object, in braces."})
    ]


def test_a_copilot_lends_its_model(builder: Client, monkeypatch: pytest.MonkeyPatch):
    class Asks(Component):
        name = "asks"
        uses = (MODEL,)
        samples = ({},)

        async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
            """Asks."""
            said = [piece async for piece in kwargs[MODEL].ask("Who are you?")]
            yield create_output("text", "".join(said))

    url = f"{COMPONENTS}asks/v1/try/"
    monkeypatch.setattr(
        "copilot_admin.admin.common.component_words.registry", lambda: Registry((Asks,))
    )
    assert "broke down" in builder.post(url, {"arguments": "{}"}).content.decode()
    copilot = make_copilot(name="Desk")
    values = read(builder, url)
    assert values["copilot"] == [str(copilot.pk)]
    assert "no language model was used" in builder.post(url, merged(values, {})).content.decode()

    gone = make_provider(kind="telepathy")
    broken = make_copilot(provider=gone)
    page = builder.post(url, merged(values, {"copilot": broken.pk})).content.decode()
    assert "There is no kind of provider called &#x27;telepathy&#x27;." in page
    keyless = make_provider(kind="openai_compatible", api_key_env="SECRET_KEY")
    broken = make_copilot(provider=keyless)
    page = builder.post(url, merged(values, {"copilot": broken.pk})).content.decode()
    assert "may not use the variable SECRET_KEY" in page


class Reads(Component):
    """Gives back what it finds in documents."""

    name = "reads"
    uses = (DOCUMENTS,)
    samples = ({},)

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Reads."""
        documents: tuple[SourceDocument, ...] = kwargs[DOCUMENTS]
        yield create_output("text", " / ".join(f"{one.name}: {one.parts}" for one in documents))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ""),
        ({"document": "words"}, "Document: ((&#x27;&#x27;, &#x27;words&#x27;),)"),
        (
            {"document": "words", "file": ("notes.txt", b"more")},
            "Document: ((&#x27;&#x27;, &#x27;words&#x27;),) / "
            "notes.txt: ((&#x27;&#x27;, &#x27;more&#x27;),)",
        ),
        ({"file": ("a.exe", b"more")}, "Its name must end in one of: csv,"),
        ({"file": ("a.pdf", b"%PDF-1.7")}, "is no PDF"),
        ({"file": ("a.txt", b"x" * 101)}, "The file is larger than 20 MB."),
    ],
)
def test_documents_are_written_or_uploaded(
    builder: Client, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], found: str
):
    monkeypatch.setattr(
        "copilot_admin.admin.common.component_words.registry", lambda: Registry((Reads,))
    )
    monkeypatch.setattr(trial_form, "MOST_BYTES", 100)
    if "file" in given:
        given = {**given, "file": SimpleUploadedFile(*given["file"])}
    url = f"{COMPONENTS}reads/v1/try/"
    page = builder.post(url, {"arguments": "{}", **given}).content.decode()
    assert found in page
    assert 'accept=".csv,' in page
