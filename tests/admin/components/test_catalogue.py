"""The catalogue of components: cards, a page for each version, and who may see them."""

from collections.abc import Generator, Mapping, Sequence
import json
from typing import Annotated, Any, ClassVar, Literal

from django.contrib.auth.models import Permission
from django.test import Client
from pydantic import Field
import pytest

from copilot_admin.admin.common import component_words
from copilot_admin.admin.common.component_words import (
    sample_call,
)
from copilot_admin.admin.components import catalogue
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.registry import Registry, registry
from copilot_admin.config.roles import Role
from protocol.components import ComponentOutput, create_output
from tests.factories import make_copilot, make_user

CATALOGUE = "/admin/components/"


class Weather(Component):
    """Says `<b>weather</b>`."""

    name = "weather"
    version = "v2"
    samples: ClassVar[Sequence[Mapping[str, Any]]] = (
        {"place": "<script>", "_sys_current_time": "now"},
    )

    def tool_eval(
        self,
        place: str,
        unit: Literal["C", "F"] = "C",
        days: Annotated[int, Field(ge=1, le=9)] = 3,
        tags: tuple[str, ...] = (),
        **kwargs: Any,
    ) -> Generator[ComponentOutput, None, None]:
        """Says the weather. It is always fine.

        Args:
            place: Where, <i>exactly</i>.
            unit: Of temperatures.
            days: How many.
            tags: What else.
        """
        yield create_output("text", f"Fine in {place}.")


class WeatherTen(Weather):
    """The tenth."""

    version = "v10"
    samples: ClassVar[Sequence[Mapping[str, Any]]] = ()


class Broken(Component):
    """Takes no inputs of the system."""

    name = "broken"

    def tool_eval(self) -> Generator[ComponentOutput, None, None]:
        """Breaks a rule."""
        yield create_output("text", "never")


@pytest.fixture
def builder(client: Client, db: None) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch) -> Registry:
    return use(monkeypatch, Weather, WeatherTen, Broken)


def use(monkeypatch: pytest.MonkeyPatch, *classes: type[Component]) -> Registry:
    """Makes these the components of the server."""
    found = Registry(classes)
    for module in (catalogue, component_words):
        monkeypatch.setattr(module, "registry", lambda: found)
    return found


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_every_component_has_a_card_that_leads_to_its_newest_version(builder: Client):
    page = text_of(builder, CATALOGUE)
    for name in registry().names():
        assert f'href="{CATALOGUE}{name}/{registry().versions(name)[-1]}/"' in page
    assert Calculator.summary() in page
    assert page.count("No copilot uses it.") == len(registry().names())


def test_the_catalogue_is_a_place_of_the_rail_for_those_who_may_see_copilots(
    builder: Client, client: Client
):
    assert (
        'aria-current="page"><svg class="ca-icon" aria-hidden="true"><use href="#ca-icon-comp'
        in (text_of(builder, CATALOGUE))
    )
    client.force_login(make_user(Role.REVIEWERS))
    assert f'href="{CATALOGUE}"' not in text_of(client, "/admin/")


def test_others_see_no_component(client: Client, db: None):
    assert client.get(CATALOGUE).status_code == 302
    client.force_login(make_user(Role.OPERATORS, Role.REVIEWERS))
    assert client.get(CATALOGUE).status_code == 403
    assert client.get(f"{CATALOGUE}calculator/v1/").status_code == 403


def test_a_card_names_the_newest_version_and_the_copilots_that_use_it(
    builder: Client, weather: Registry
):
    for number in range(5):
        make_copilot(name=f"Desk {number}", components=[{"name": "weather", "version": "v2"}])
    make_copilot(name="Other", components=[])
    page = text_of(builder, CATALOGUE)
    assert "weather@v10" in page
    assert "The tenth." in page
    used = page[page.index("Used by") : page.index("</ul>", page.index("Used by"))]
    assert [f"Desk {number}" in used for number in range(5)] == [True] * 4 + [False]
    assert "Other" not in page


def test_a_component_that_breaks_a_rule_is_told_of_and_left_out(builder: Client, weather: Registry):
    page = text_of(builder, CATALOGUE)
    assert f"{__name__}.Broken breaks ToolEvalKwargsRule: tool_eval must end" in page
    assert builder.get(f"{CATALOGUE}broken/v1/").status_code == 404


def test_who_may_not_change_copilots_may_not_try(client: Client, db: None):
    user = make_user()
    user.user_permissions.add(Permission.objects.get(codename="view_copilot"))
    client.force_login(user)
    assert "Try it" not in text_of(client, f"{CATALOGUE}calculator/v1/")
    assert client.get(f"{CATALOGUE}calculator/v1/try/").status_code == 403


def test_the_number_of_queries_does_not_grow(
    builder: Client, weather: Registry, django_assert_max_num_queries: Any
):
    for number in range(20):
        make_copilot(name=f"Desk {number}", components=[{"name": "weather", "version": "v2"}])
    for url in (CATALOGUE, f"{CATALOGUE}weather/v2/"):
        with django_assert_max_num_queries(5):
            builder.get(url)


def test_a_version_has_a_page_with_all_that_a_caller_needs(builder: Client, weather: Registry):
    copilot = make_copilot(name="Desk", components=[{"name": "weather", "version": "v10"}])
    page = text_of(builder, f"{CATALOGUE}weather/v2/")
    assert '<strong aria-current="true">v2</strong>' in page
    assert f'<a href="{CATALOGUE}weather/v10/">v10</a>' in page
    assert f'href="/admin/copilot_admin/copilot/{copilot.pk}/change/"' in page
    assert "Any type of content" in page
    assert "POST /v2/components/weather/version/v2" in page
    assert "&quot;place&quot;: &quot;&lt;script&gt;&quot;" in page
    assert "_sys_current_time" not in page
    assert "Where, &lt;i&gt;exactly&lt;/i&gt;." in page
    assert "Says &lt;b&gt;weather&lt;/b&gt;." in page


def test_a_sample_call_is_json(builder: Client):
    assert json.loads(sample_call(Calculator)) == {
        "stream": False,
        "parameters": {"expression": "2 + 2"},
    }
