"""Tools: the catalogue, the page of a version, and trying one."""

from collections.abc import AsyncGenerator
import json
from typing import Annotated, Any, Literal

from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pydantic import Field
import pytest

from copilot_admin.admin.components import trial_form, views
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.inputs import DOCUMENTS, MODEL, SourceDocument
from copilot_admin.agent.components.registry import Registry, registry
from copilot_admin.config.roles import Role
from copilot_admin.errors import ComponentFailed
from protocol.components import ComponentOutput, create_output
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db
TOOLS = "/admin/components/"
HTMX = {"HX-Request": "true"}


class Shows(Component):
    """Gives `<b>one</b>` of everything."""

    name = "shows"
    version = "v2"
    samples = ({"word": "<b>one</b>", "_sys_current_time": "now"}, {"word": "two"})

    async def tool_eval(
        self,
        word: str,
        unit: Literal["C", "F"] = "C",
        days: Annotated[int, Field(ge=1, le=9)] = 3,
        **kwargs: Any,
    ) -> AsyncGenerator[ComponentOutput, None]:
        """Shows a word.

        Args:
            word: Which, <i>exactly</i>.
            unit: Of temperatures.
            days: How many.
        """
        if word == "refuse":
            raise ValueError("Say another <i>word</i>.")
        yield create_output("text", word, visible_scope="llm", raw_data={"secret": "s3cret"})
        if word == "break":
            raise ComponentFailed("It <i>broke</i>.")
        yield create_output("text", f"**{word}**", visible_scope="user")
        yield create_output("json", {"data": [{"word": word}]}, visible_scope="user", name="Words")
        yield create_output("text", "", usage={"total_tokens": 7, "name": "small"}, name="end")


class ShowsTen(Shows):
    """The tenth."""

    version = "v10"


class Broken(Component):
    """Takes no inputs of the system."""

    name = "broken"

    def tool_eval(self) -> Any:
        """Breaks a rule."""


class Asks(Component):
    """Asks a model."""

    name = "asks"
    uses = (MODEL,)
    samples = ({},)

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Asks."""
        said = [piece async for piece in kwargs[MODEL].ask("Who are you?")]
        yield create_output("text", "".join(said))


class Reads(Component):
    """Gives back what it finds in documents."""

    name = "reads"
    uses = (DOCUMENTS,)
    samples = ({},)

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Reads."""
        documents: tuple[SourceDocument, ...] = kwargs[DOCUMENTS]
        yield create_output("text", " / ".join(f"{one.name}: {one.parts}" for one in documents))


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Registry((Shows, ShowsTen, Broken, Asks, Reads))
    monkeypatch.setattr(views, "registry", lambda: found)


def run(client: Client, tool: str, arguments: object = None, **given: Any) -> Any:
    """Return the response of a try; htmx gets the result alone."""
    body = {"arguments": json.dumps(arguments or {}), **given}
    response = client.post(f"{TOOLS}{tool}/try/", body, headers=HTMX)
    assert response.status_code == 200
    return response


class TestCatalogue:
    def test_every_real_tool_is_listed_in_its_newest_version(self, builder: Client, monkeypatch):
        monkeypatch.setattr(views, "registry", registry)
        page = builder.get(TOOLS).content.decode()
        for name in registry().names():
            assert f'href="{TOOLS}{name}/{registry().versions(name)[-1]}/"' in page
        assert Calculator.summary() in page

    def test_a_broken_tool_is_reported_and_left_out(self, builder: Client):
        page = builder.get(TOOLS)
        assert [f"{__name__}.Broken" in fault.sentence for fault in page.context["faults"]] == [
            True
        ]
        assert "shows@v10" in page.content.decode()
        assert builder.get(f"{TOOLS}broken/v1/").status_code == 404

    def test_a_version_has_a_page_with_all_that_a_caller_needs(self, builder: Client):
        copilot = make_copilot(name="Desk", components=[{"name": "shows", "version": "v10"}])
        page = builder.get(f"{TOOLS}shows/v2/").content.decode()
        assert f'<a href="{TOOLS}shows/v10/">v10</a>' in page
        assert f'href="/admin/copilot_admin/copilot/{copilot.pk}/change/"' in page
        assert "POST /v2/components/shows/version/v2" in page
        assert "&quot;word&quot;: &quot;&lt;b&gt;one&lt;/b&gt;&quot;" in page
        assert "_sys_current_time" not in page
        assert "Which, &lt;i&gt;exactly&lt;/i&gt;." in page

    def test_only_builders_try_and_only_people_who_see_copilots_look(self, client: Client):
        client.force_login(make_user(Role.REVIEWERS, Role.OPERATORS))
        for path in ("", "shows/v2/"):
            assert client.get(TOOLS + path).status_code == 403
        user = make_user()
        user.user_permissions.add(Permission.objects.get(codename="view_copilot"))
        client.force_login(user)
        assert "try-form" not in client.get(f"{TOOLS}shows/v2/").content.decode()
        assert client.post(f"{TOOLS}shows/v2/try/", {"arguments": "{}"}).status_code == 403
        client.force_login(make_user(Role.BUILDERS))
        for path in ("shows/v9/try/", "nobody/v1/try/"):
            assert client.post(TOOLS + path).status_code == 404


class TestTrying:
    @pytest.mark.parametrize(
        ("number", "word"),
        [("1", "<b>one</b>"), ("2", "two"), ("0", "<b>one</b>"), ("x", "<b>one</b>")],
    )
    def test_the_form_starts_with_a_sample(self, builder: Client, number: str, word: str):
        form = builder.get(f"{TOOLS}shows/v2/?sample={number}").context["form"]
        assert json.loads(form["arguments"].value()) == {"word": word}

    def test_the_result_shows_what_user_and_model_get(self, builder: Client):
        page = run(builder, "shows/v2", {"word": "<b>x</b>"}).content.decode()
        assert "<html" not in page
        assert "<strong>&lt;b&gt;x&lt;/b&gt;</strong>" in page
        assert "<table" in page
        assert "7 tokens of small" in page
        assert "<b>x" not in page
        assert "s3cret" not in page

    @pytest.mark.parametrize(
        ("word", "field", "problem", "for_model"),
        [
            ("break", [], "It <i>broke</i>.", "break\nerror: It <i>broke</i>."),
            ("refuse", ["arguments"], "", "error: Say another <i>word</i>."),
            (5, ["arguments"], "", "Wrong arguments for shows: word: 5 is not of type 'string'."),
        ],
    )
    def test_errors_are_shown(self, builder: Client, word, field, problem, for_model):
        response = run(builder, "shows/v2", {"word": word})
        result = response.context["result"]
        assert list(response.context["form"].errors) == field
        assert (result["problem"], result["for_model"]) == (problem, for_model)
        assert "<i>" not in response.content.decode()

    @pytest.mark.parametrize(("typed", "code"), [("{", "json"), ("[]", "object"), ("", "required")])
    def test_arguments_are_a_json_object(self, builder: Client, typed: str, code: str):
        body = {"arguments": typed}
        form = builder.post(f"{TOOLS}shows/v2/try/", body, headers=HTMX).context["form"]
        assert [one.code for one in form.errors.as_data()["arguments"]] == [code]

    def test_a_tool_uses_the_model_of_a_copilot(self, builder: Client):
        assert run(builder, "asks/v1").context["result"]["problem"]
        copilot = make_copilot(name="Desk")
        assert builder.get(f"{TOOLS}asks/v1/").context["form"]["copilot"].value() == copilot.pk
        assert run(builder, "asks/v1", copilot=copilot.pk).context["result"]["for_model"]
        for changes in ({"kind": "telepathy"}, {"api_key_env": "SECRET_KEY"}):
            kind = {"kind": "openai_compatible", **changes}
            broken = make_copilot(provider=make_provider(**kind))
            form = run(builder, "asks/v1", copilot=broken.pk).context["form"]
            assert form.errors.as_data()["copilot"][0].code == "provider"

    @pytest.mark.parametrize(
        ("given", "found"),
        [
            ({}, "(no output for the model)"),
            ({"document": "words"}, "Document: (('', 'words'),)"),
            (
                {"document": "words", "file": ("notes.txt", b"more")},
                "Document: (('', 'words'),) / notes.txt: (('', 'more'),)",
            ),
            ({"file": ("a.exe", b"more")}, None),
            ({"file": ("a.pdf", b"%PDF-1.7")}, None),
            ({"file": ("a.txt", b"x" * 101)}, None),
        ],
    )
    def test_documents_are_typed_or_uploaded(self, builder: Client, monkeypatch, given, found):
        monkeypatch.setattr(trial_form, "MAX_BYTES", 100)
        if "file" in given:
            given = {**given, "file": SimpleUploadedFile(*given["file"])}
        context = run(builder, "reads/v1", **given).context
        if found is None:
            assert list(context["form"].errors) == ["file"]
        else:
            assert context["result"]["for_model"] == found
