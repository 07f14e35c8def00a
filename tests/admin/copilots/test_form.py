"""A builder makes a copilot: every field, what is refused, and what is never lost."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.copilots import model_menu
from copilot_admin.admin.copilots.admin import AUTOSAVE
from copilot_admin.admin.copilots.form import NEW_FEATURES, NEW_TOOLS
from copilot_admin.config.roles import Role
from copilot_admin.copilots.providers import keep_models
from copilot_admin.models import Copilot
from tests.admin.pages import errors_of, merged, read_form, row_errors, submit, url_of, values_in
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
ADD = "/admin/copilot_admin/copilot/add/"
FORM = "copilot_form"


def save(client: Client, copilot: Copilot, **changes: Any) -> Any:
    return submit(client, url_of(copilot), changes, form_id=FORM)


def stored(client: Client, copilot: Copilot, **changes: Any) -> None:
    """Saves a draft, and does not look at the page that then comes."""
    url = url_of(copilot)
    sent = merged(read_form(client, url, form_id=FORM) | {"_continue": ["x"]}, changes)
    assert client.post(url, sent).status_code == 302


def test_copilot_is_made_from_a_name_a_provider_and_a_model(builder: Client) -> None:
    provider = make_provider()
    values = {"name": "News Reader", "slug": "news-reader", "provider": provider.pk, "model": "m-1"}
    response = submit(builder, ADD, values, form_id=FORM)
    copilot = Copilot.objects.get()
    assert (copilot.name, copilot.slug, copilot.model) == ("News Reader", "news-reader", "m-1")
    assert copilot.live is None
    assert {key for key, is_on in copilot.features.items() if is_on} == set(NEW_FEATURES)
    assert copilot.tools == list(NEW_TOOLS)
    assert (copilot.widget_data, copilot.citations) == ("ask", "widgets")
    assert (copilot.access, copilot.enabled) == ("key", True)
    assert response.context["checklist"].errors == ()
    anchors = {item.anchor for item in response.context["checklist"].warnings}
    assert anchors.isdisjoint({"id_features", "id_widget_data", "id_tools"})


def test_every_field_is_stored_as_the_copilot_file_has_it(builder: Client) -> None:
    copilot = make_copilot()
    stored(
        builder,
        copilot,
        description="Says what matters.",
        image_url="https://example.com/a.png",
        system_prompt="You are {{ copilot.name }}.",
        temperature="0.2",
        max_tokens="800",
        top_p="0.9",
        reasoning_effort="low",
        features=["widget-dashboard-select"],
        widget_data="fetch",
        tools=["table"],
        citations="off",
        sees_images="on",
        show_steps=None,
        **{
            "more_parameters-0-name": "seed",
            "more_parameters-0-value": "7",
            "model_choices-0-id": "m-1",
            "starters-0-text": "What moved today?",
            "steps-0-message": "Starting",
            "steps-0-details": "a: b\nrows: 3",
        },
    )
    copilot.refresh_from_db()
    expected = {
        "parameters": {
            "temperature": 0.2,
            "max_tokens": 800,
            "top_p": 0.9,
            "reasoning_effort": "low",
            "seed": 7,
        },
        "features": {"widget-dashboard-select": True},
        "model_choices": [{"id": "m-1", "name": "m-1"}],
        "starters": ["What moved today?"],
        "steps": [
            {"at": "start", "type": "INFO", "message": "Starting", "details": {"a": "b", "rows": 3}}
        ],
        "widget_data": "fetch",
        "tools": ["table"],
        "citations": "off",
        "show_steps": False,
        "sees_images": True,
        "image_url": "https://example.com/a.png",
    }
    assert {name: getattr(copilot, name) for name in expected} == expected


CUSTOM_FEATURES = [
    {"key": "deep-research", "label": "Deep Research", "type": "toggle", "default": True},
    {
        "key": "tone",
        "label": "Tone",
        "type": "select",
        "options": [{"label": "Short", "value": "brief"}, {"label": "long", "value": "long"}],
        "default": "brief",
    },
]


def test_custom_features_are_made_without_writing_json(builder: Client) -> None:
    copilot = make_copilot(custom_features=CUSTOM_FEATURES[:1])
    stored(
        builder,
        copilot,
        **{
            "custom_features-1-label": "Tone",
            "custom_features-1-type": "select",
            "custom_features-1-options": "Short = brief\n\nlong",
        },
    )
    copilot.refresh_from_db()
    assert copilot.custom_features == CUSTOM_FEATURES[:2]


def test_rows_are_put_in_order_and_removed_without_javascript(builder: Client) -> None:
    copilot = make_copilot(starters=["One?", "Two?", "Three?"])
    stored(
        builder,
        copilot,
        **{"starters-0-ORDER": "9", "starters-1-DELETE": "on", "starters-2-ORDER": "1"},
    )
    copilot.refresh_from_db()
    assert copilot.starters == ["Three?", "One?"]


def test_errors_stand_at_their_fields_and_nothing_typed_is_lost(builder: Client) -> None:
    wrong = {"name": "", "slug": "News Reader", "image_url": "javascript:x", "max_tokens": "0"}
    response = save(builder, make_copilot(), description="Typed", **wrong)
    assert errors_of(response).keys() == wrong.keys()
    sent = values_in(response.content.decode(), form_id=FORM)
    assert {name: sent[name] for name in wrong} == {name: [value] for name, value in wrong.items()}
    assert sent["description"] == ["Typed"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [("0.5", 0.5), ("true", True), ("yes", "yes"), ('"1"', "1"), ("[1, {}]", [1, {}]), ("[", "[")],
)
def test_a_parameter_is_a_json_value_or_a_text(builder: Client, typed: str, value: Any) -> None:
    copilot = make_copilot(parameters={"seed": 1})
    stored(builder, copilot, **{"more_parameters-0-value": typed})
    copilot.refresh_from_db()
    assert copilot.parameters == {"seed": value}
    response = save(builder, copilot, **{"more_parameters-0-name": "a b"})
    assert list(row_errors(response, "more_parameters")[0]) == ["name"]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"label": "Tone", "type": "select"}, "options"),
        ({"label": "Tone", "type": "select", "options": "A = x\nB = x"}, "options"),
        ({"label": "Tone", "type": "select", "options": "A = x", "default": "y"}, "default"),
        ({"label": "Upload", "key": "file-upload"}, "key"),
        ({"label": "Tone", "key": "The Tone"}, "key"),
    ],
)
def test_an_invalid_custom_feature_is_marked_in_its_row(
    builder: Client, row: dict[str, str], field: str
) -> None:
    changes = {f"custom_features-0-{name}": value for name, value in row.items()}
    response = save(builder, make_copilot(), **changes)
    assert list(row_errors(response, "custom_features")[0]) == [field]


def test_limits_of_calls_are_numbers_within_bounds_one_for_each_function(
    builder: Client,
) -> None:
    copilot = make_copilot()
    row = {"client_call_limits-1-function": "execute_agent_tool", "client_call_limits-1-most": "6"}
    stored(builder, copilot, max_client_calls="20", **row)
    copilot.refresh_from_db()
    limits = [
        {"function": "get_widget_data", "most": 4},
        {"function": "execute_agent_tool", "most": 6},
    ]
    assert (copilot.max_client_calls, copilot.client_call_limits) == (20, limits)
    response = save(builder, copilot, **{"client_call_limits-1-most": "101"})
    assert list(row_errors(response, "client_call_limits")[1]) == ["most"]
    twice = {"client_call_limits-1-function": "get_widget_data"}
    assert "client_call_limits" in errors_of(save(builder, copilot, **twice))
    assert "max_client_calls" in errors_of(save(builder, copilot, max_client_calls="101"))
    stored(
        builder, copilot, **{"client_call_limits-0-most": "", "client_call_limits-0-DELETE": "on"}
    )
    copilot.refresh_from_db()
    assert (copilot.max_client_calls, copilot.client_call_limits) == (20, limits[1:])


def test_a_name_that_differs_in_case_only_is_refused_next_to_the_name(builder: Client) -> None:
    make_copilot(name="News Reader")
    response = save(builder, make_copilot(), name="NEWS reader")
    assert list(errors_of(response)) == ["name"]


def test_the_slug_is_fixed_once_published(builder: Client) -> None:
    copilot = make_published(slug="news")
    stored(builder, copilot, slug="other")
    copilot.refresh_from_db()
    assert copilot.slug == "news"


def test_unknown_placeholders_are_saved_and_flagged_next_to_the_prompt(builder: Client) -> None:
    copilot = make_copilot()
    response = save(builder, copilot, system_prompt="Hello {{ nobody }}")
    field = response.context["adminform"].form.fields["system_prompt"]
    assert len(field.open_problems) == 1
    assert 'data-problem="system_prompt"' in response.content.decode()


def test_saving_never_changes_what_is_live(builder: Client) -> None:
    copilot = make_published(system_prompt="Old")
    response = save(builder, copilot, system_prompt="New")
    copilot.refresh_from_db()
    assert copilot.live is not None
    assert copilot.live.document["system_prompt"] == "Old"
    assert copilot.versions.count() == 1
    assert response.context["copilot_header"]["changes"] == 1


@pytest.mark.database
def test_somebody_elses_save_in_between_is_told_and_the_text_is_kept(builder: Client) -> None:
    copilot = make_copilot(system_prompt="Mine")
    values = read_form(builder, url_of(copilot), form_id=FORM)
    other = Client()
    other.force_login(make_user(Role.BUILDERS, username="grace"))
    stored(other, copilot, system_prompt="Theirs")

    mine = {**values, "system_prompt": "Mine, longer", "_continue": "x"}
    response = builder.post(url_of(copilot), mine)
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Theirs"
    page = response.content.decode()
    assert "grace" in page
    assert "Mine, longer" in page

    again = {**mine, "seen": response.context["adminform"].form["seen"].value()}
    builder.post(url_of(copilot), again)
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Mine, longer"


def test_the_preview_is_drawn_from_what_is_typed_and_stores_nothing(builder: Client) -> None:
    copilot = make_copilot(custom_features=CUSTOM_FEATURES)
    values = read_form(builder, url_of(copilot), form_id=FORM)
    address = f"{reverse('admin:copilot_admin_copilot_preview')}?id={copilot.pk}"
    typed = {
        "name": "<b>Bold</b>",
        "description": "New words",
        "starters-0-text": "First?",
        "model_choices-0-id": "m-1",
        "model_choices-0-name": "Model one",
        "custom_features-2-label": "",
        "custom_features-2-description": "half a row",
    }
    page = builder.post(address, {**values, **typed}).content.decode()
    for text in ("&lt;b&gt;Bold&lt;/b&gt;", "New words", "First?", "Model one", "Deep Research"):
        assert text in page
    assert "half a row" not in page
    copilot.refresh_from_db()
    assert copilot.description == ""


def test_an_autosave_answers_with_the_new_state_of_the_page(builder: Client) -> None:
    copilot = make_published(system_prompt="Old")
    values = read_form(builder, url_of(copilot), form_id=FORM)
    sent = {**values, "name": "Renamed", "system_prompt": "New", AUTOSAVE: "1"}
    saved = builder.post(url_of(copilot), sent)
    copilot.refresh_from_db()
    assert copilot.system_prompt == "New"
    page = saved.content.decode()
    assert 'id="saved-at"' in page
    assert f'name="seen" id="id_seen" value="{copilot.updated_at.isoformat()}"' in page
    assert 'data-changes="2"' in page
    assert ">Renamed</h1>" in page
    for name in ("compare", "discard"):
        assert f'href="{reverse(f"admin:copilot_admin_copilot_{name}", args=[copilot.pk])}"' in page
    assert "<html" not in page


@pytest.mark.parametrize("changes", [{"name": ""}, {"seen": "2020-01-01T00:00:00+00:00"}])
def test_an_autosave_that_fails_says_so(builder: Client, changes: dict[str, str]) -> None:
    copilot = make_copilot(description="Old")
    values = read_form(builder, url_of(copilot), form_id=FORM)
    sent = {**values, "description": "New", AUTOSAVE: "1", **changes}
    page = builder.post(url_of(copilot), sent).content.decode()
    copilot.refresh_from_db()
    assert copilot.description == "Old"
    assert 'class="ca-bad"' in page
    assert 'name="seen"' not in page


def test_the_model_menu_lists_every_provider_with_its_models(
    builder: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = make_provider(name="Cloud", kind="openai_compatible")
    keep_models(provider.pk, ("gpt-4.1", "text-embedding-3-small"))
    url = reverse("admin:copilot_admin_copilot_models")
    page = builder.get(url)
    (group,) = page.context["model_groups"]
    assert [row.id for row in group["rows"]] == ["gpt-4.1"]
    assert "data-connect" not in page.content.decode()  # builders may not add providers
    monkeypatch.setattr(model_menu, "fetch_models", lambda one: keep_models(one.pk, ("new",)))
    fetched = builder.post(f"{url}?provider={provider.pk}")
    assert [row.id for row in fetched.context["model_groups"][0]["rows"]] == ["new"]
    assert builder.post(f"{url}?provider=0").context["model_error"]
    assert builder.put(url).status_code == 405


def test_who_may_only_look_reads_the_whole_draft_in_words(client: Client) -> None:
    client.force_login(make_user(Role.PUBLISHERS))
    provider = make_provider(name="Closed")
    copilot = make_copilot(
        provider=provider,
        system_prompt="One.\nTwo.",
        starters=["First?"],
        tools=["table"],
        custom_features=CUSTOM_FEATURES,
        features={"widget-dashboard-select": True},
    )
    page = client.get(url_of(copilot)).content.decode()
    for words in ("Closed", "One.\nTwo.", "First?", "table", "Deep Research", "Selected widgets"):
        assert words in page
    assert url_of(provider) not in page
    assert 'name="system_prompt"' not in page


def test_components_are_switched_on_by_version_and_keep_what_a_file_configured(
    builder: Client,
) -> None:
    rows = [
        {"name": "calculator", "version": "latest"},
        {"name": "returns_toolkit", "version": "v1", "config": {"window": 21}},
        {"name": "abacus", "version": "v1"},
    ]
    copilot = make_copilot(components=rows)
    page = builder.get(url_of(copilot)).content.decode()
    for pin in ("calculator@latest", "abacus@v1"):
        assert f'value="{pin}" checked' in page
    chosen = ["calculator@v1", "returns_toolkit@v1", "chart_maker@v1"]
    stored(builder, copilot, components=chosen, stream_all_text="on")
    copilot.refresh_from_db()
    assert copilot.stream_all_text is True
    assert sorted(copilot.components, key=lambda row: row["name"]) == [
        {"name": "calculator", "version": "v1"},
        {"name": "chart_maker", "version": "v1"},
        {"name": "returns_toolkit", "version": "v1", "config": {"window": 21}},
    ]
