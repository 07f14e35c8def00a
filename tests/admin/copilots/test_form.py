"""A builder makes a copilot: every field, what is refused, and what is never lost."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from protocol.features import DEFAULT_FEATURES
from tests.admin.pages import merged, messages_of, read_form, submit
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
ADD = "/admin/copilot_admin/copilot/add/"
FORM = "copilot_form"


@pytest.fixture
def builder(client: Client) -> Client:
    """The browser of somebody who makes copilots."""
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def change_url(copilot: Copilot) -> str:
    return reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])


def save(client: Client, copilot: Copilot, **changes: Any) -> Any:
    return submit(client, change_url(copilot), changes, form_id=FORM)


def stored(client: Client, copilot: Copilot, **changes: Any) -> None:
    """Saves a draft, and does not look at the page that then comes."""
    url = change_url(copilot)
    sent = merged(read_form(client, url, form_id=FORM) | {"_continue": ["x"]}, changes)
    assert client.post(url, sent).status_code == 302


def errors_of(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def row_errors(response: Any, name: str) -> list[dict[str, list[str]]]:
    formset = response.context["adminform"].form[name].value()
    formset.is_valid()
    return [dict(form.errors) for form in formset.forms]


def test_copilot_is_made_from_a_name_a_provider_and_a_model(builder: Client) -> None:
    provider = make_provider()
    response = submit(
        builder,
        ADD,
        {"name": "News Reader", "slug": "news-reader", "provider": provider.pk, "model": "m-1"},
        form_id=FORM,
    )
    assert messages_of(response) == ["Draft saved. Nobody sees it before you publish it."]
    copilot = Copilot.objects.get()
    assert (copilot.name, copilot.slug, copilot.model) == ("News Reader", "news-reader", "m-1")
    assert copilot.live is None
    assert (copilot.parameters, copilot.features, copilot.custom_features) == ({}, {}, [])
    assert (copilot.widget_data, copilot.access, copilot.enabled) == ("ask", "key", True)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Éclair Øre 2", "eclair-ore-2"),
        ("市场简报", "shichangjianbao"),
        ("🙂", "copilot-2"),
    ],
)
def test_a_name_makes_a_slug_that_people_can_read(builder: Client, name: str, slug: str) -> None:
    make_copilot(slug="copilot")
    values = {"name": name, "slug": "", "provider": make_provider().pk, "model": "m-1"}
    submit(builder, ADD, values, form_id=FORM)
    assert Copilot.objects.get(name=name).slug == slug


@pytest.mark.parametrize("sign", ["\u202e", "\u2066"])
def test_a_text_that_hides_its_own_order_is_refused(builder: Client, sign: str) -> None:
    fields = ("name", "description", "system_prompt")
    response = save(builder, make_copilot(), **dict.fromkeys(fields, f"gnp{sign}.exe"))
    assert errors_of(response).keys() == set(fields)


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
            "steps-0-details": "key1: value1\nrows: 3",
        },
    )
    copilot.refresh_from_db()
    assert copilot.parameters == {
        "temperature": 0.2,
        "max_tokens": 800,
        "top_p": 0.9,
        "reasoning_effort": "low",
        "seed": 7,
    }
    assert copilot.features == {
        "widget-dashboard-select": True,
        **dict.fromkeys(DEFAULT_FEATURES, False),
    }
    assert copilot.model_choices == [{"id": "m-1", "name": "m-1"}]
    assert copilot.starters == ["What moved today?"]
    assert copilot.steps == [
        {
            "at": "start",
            "type": "INFO",
            "message": "Starting",
            "details": {"key1": "value1", "rows": 3},
        }
    ]
    assert (copilot.widget_data, copilot.tools, copilot.citations) == ("fetch", ["table"], "off")
    assert copilot.show_steps is False
    assert copilot.sees_images is True
    assert copilot.image_url == "https://example.com/a.png"


@pytest.mark.parametrize("effort", ["xhigh", "maximal", 3, {"effort": "high"}])
def test_a_reasoning_effort_of_any_value_survives_saving(builder: Client, effort: Any) -> None:
    copilot = make_copilot(parameters={"reasoning_effort": effort})
    stored(builder, copilot, reasoning_effort=str(effort))
    copilot.refresh_from_db()
    assert copilot.parameters == {"reasoning_effort": effort}


CUSTOM_FEATURES = [
    {
        "key": "deep-research",
        "label": "Deep Research",
        "type": "toggle",
        "description": "Takes longer.",
        "default": True,
        "states": {"on": "Enabled", "off": "Disabled"},
    },
    {
        "key": "tone",
        "label": "Tone",
        "type": "select",
        "options": [{"label": "Short", "value": "brief"}, {"label": "long", "value": "long"}],
        "default": "brief",
    },
    {
        "key": "house-view",
        "label": "House view",
        "type": "text",
        "default": "",
        "placeholder": "e.g. bullish",
    },
]


def test_saving_a_page_as_it_is_changes_nothing(builder: Client) -> None:
    copilot = make_copilot(
        custom_features=CUSTOM_FEATURES,
        parameters={"temperature": 0.5, "stop": ["a", "b"], "user": "7", "logprobs": True},
        steps=[{"at": "end", "type": "WARNING", "message": "Done", "details": {"a": [1, "x"]}}],
        starters=["One?", "Two?"],
        model_choices=[{"id": "a", "name": "A"}],
        features={"widget-global-search": True},
        tools=["chart"],
        system_prompt="\n  kept \n as it is\n",
    )
    before: dict[str, Any] = {**Copilot.objects.values().get(pk=copilot.pk)}
    response = save(builder, copilot)
    after: dict[str, Any] = {**Copilot.objects.values().get(pk=copilot.pk)}
    assert "Draft saved" in messages_of(response)[0]
    prompt = after.pop("system_prompt")
    assert prompt.replace("\r\n", "\n").strip() == before.pop("system_prompt").strip()
    assert after | {"updated_at": None} == before | {"updated_at": None}


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


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "name": ("", "This field is required."),
            "slug": (
                "News Reader",
                "Use lower-case letters and digits, with single hyphens between them: news-reader.",
            ),
            "image_url": (
                "javascript:alert(1)",
                "Write the whole address, beginning with https:// — or upload the image.",
            ),
            "temperature": ("3", "Ensure this value is less than or equal to 2."),
            "max_tokens": ("0", "Ensure this value is greater than or equal to 1."),
        },
        {"temperature": ("warm", "Enter a number.")},
    ],
)
def test_what_is_wrong_is_said_next_to_the_field(
    builder: Client, wrong: dict[str, tuple[str, str]]
) -> None:
    typed = {field: value for field, (value, _) in wrong.items()}
    response = save(builder, make_copilot(), **typed)
    assert errors_of(response) == {field: [sentence] for field, (_, sentence) in wrong.items()}


def test_a_parameter_that_has_another_place_is_refused_where_it_stands(builder: Client) -> None:
    copilot = make_copilot(parameters={"a": 1, "b": 1})
    names = {"more_parameters-0-name": "temperature", "more_parameters-1-name": "stream"}
    assert errors_of(save(builder, copilot, **names)) == {
        "more_parameters": [
            "“temperature” has a field of its own above.",
            "“stream” is set by the server. Take it out.",
        ]
    }


def test_a_wrong_parameter_is_marked_in_its_row(builder: Client) -> None:
    unreadable = (
        "This list or group cannot be read. Take it over as it was, or choose another kind."
    )
    no_name = (
        "Use letters, digits and underscores, as the provider's manual does: frequency_penalty."
    )
    wrong = [
        ({"value": "many"}, {"value": ["This is no number. Write 0.5 or 200."]}),
        ({"value": "1e999"}, {"value": ["This number has no end. Write 0.5 or 200."]}),
        ({"value": "9" * 400}, {"value": ["This number has no end. Write 0.5 or 200."]}),
        ({"kind": "switch", "value": "maybe"}, {"value": ["Write yes or no."]}),
        ({"kind": "structure", "value": "[" * 4000}, {"value": [unreadable]}),
        ({"name": "a b"}, {"name": [no_name]}),
    ]
    typed = {
        f"more_parameters-{row}-{name}": value
        for row, (changes, _) in enumerate(wrong)
        for name, value in changes.items()
    }
    copilot = make_copilot(parameters={f"p{row}": 1 for row in range(len(wrong))})
    response = save(builder, copilot, **typed)
    assert errors_of(response) == {"more_parameters": ["See the marked rows below."]}
    assert row_errors(response, "more_parameters")[: len(wrong)] == [errors for _, errors in wrong]


@pytest.mark.parametrize(
    ("row", "errors"),
    [
        (
            {"label": "Tone", "type": "select"},
            {"options": ["Write at least one choice, each on a line of its own."]},
        ),
        (
            {"label": "Tone", "type": "select", "options": "A = x\nB = x"},
            {"options": ["Two choices have the same value. Make them differ."]},
        ),
        (
            {"label": "Tone", "type": "select", "options": "A = x", "default": "y"},
            {"default": ["No choice has this value. Use one of: x."]},
        ),
        (
            {"label": "Upload", "key": "file-upload"},
            {"key": ["Workspace has a feature of its own with this key. Choose another."]},
        ),
        (
            {"label": "Tone", "key": "The Tone"},
            {
                "key": [
                    "Use lower-case letters, digits and single hyphens, for example deep-research."
                ]
            },
        ),
    ],
)
def test_a_wrong_control_is_marked_in_its_row(
    builder: Client, row: dict[str, str], errors: dict[str, list[str]]
) -> None:
    changes = {f"custom_features-0-{name}": value for name, value in row.items()}
    response = save(builder, make_copilot(), **changes)
    assert row_errors(response, "custom_features")[0] == errors


def test_two_controls_of_one_key_are_refused_at_the_second(builder: Client) -> None:
    copilot = make_copilot(custom_features=CUSTOM_FEATURES[2:])
    response = save(
        builder,
        copilot,
        **{"custom_features-1-label": "Other", "custom_features-1-key": "house-view"},
    )
    assert row_errors(response, "custom_features")[1] == {
        "key": ["Another row has this already. Choose another."]
    }


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
    for most, words in (
        ("0", "Ensure this value is greater than or equal to 1."),
        ("101", "Ensure this value is less than or equal to 100."),
        ("", "This field is required."),
    ):
        response = save(builder, copilot, **{"client_call_limits-1-most": most})
        assert row_errors(response, "client_call_limits")[1] == {"most": [words]}
    twice = {"client_call_limits-1-function": "get_widget_data"}
    assert "Two rows are the same." in save(builder, copilot, **twice).content.decode()
    assert "max_client_calls" in errors_of(save(builder, copilot, max_client_calls="101"))
    stored(
        builder, copilot, **{"client_call_limits-0-most": "", "client_call_limits-0-DELETE": "on"}
    )
    copilot.refresh_from_db()
    assert (copilot.max_client_calls, copilot.client_call_limits) == (20, limits[1:])


def test_a_name_that_differs_in_case_only_is_refused_next_to_the_name(builder: Client) -> None:
    make_copilot(name="News Reader")
    response = save(builder, make_copilot(), name="NEWS reader")
    assert errors_of(response) == {"name": ["Another copilot has this name. Choose another."]}


def test_the_slug_is_fixed_once_published(builder: Client) -> None:
    copilot = make_published(slug="news")
    stored(builder, copilot, slug="other")
    copilot.refresh_from_db()
    assert copilot.slug == "news"


def test_unknown_placeholders_are_saved_and_flagged_next_to_the_prompt(builder: Client) -> None:
    copilot = make_copilot()
    response = save(builder, copilot, system_prompt="Hello {{ nobody }}")
    assert messages_of(response) == [
        "Draft saved. One thing must be mended before it can be published."
    ]
    field = response.context["adminform"].form.fields["system_prompt"]
    assert field.open_problems == ("The prompt has the unknown placeholder {{ nobody }}.",)
    assert "The prompt has the unknown placeholder {{ nobody }}." in response.content.decode()


def test_saving_never_changes_what_is_live(builder: Client) -> None:
    copilot = make_published(system_prompt="Old")
    response = save(builder, copilot, system_prompt="New")
    copilot.refresh_from_db()
    assert copilot.live is not None
    assert copilot.live.document["system_prompt"] == "Old"
    assert copilot.versions.count() == 1
    assert "Unpublished changes" in response.content.decode()


@pytest.mark.database
def test_somebody_elses_save_in_between_is_told_and_the_text_is_kept(builder: Client) -> None:
    copilot = make_copilot(system_prompt="Mine")
    values = read_form(builder, change_url(copilot), form_id=FORM)
    other = Client()
    other.force_login(make_user(Role.BUILDERS, username="grace"))
    stored(other, copilot, system_prompt="Theirs")

    mine = {**values, "system_prompt": "Mine, longer", "_continue": "x"}
    response = builder.post(change_url(copilot), mine)
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Theirs"
    page = response.content.decode()
    assert "grace saved this while you were editing. Your text is still here" in page
    assert "Mine, longer" in page

    again = {**mine, "seen": response.context["adminform"].form["seen"].value()}
    builder.post(change_url(copilot), again)
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Mine, longer"


def test_the_preview_is_drawn_from_what_is_typed_and_stores_nothing(builder: Client) -> None:
    copilot = make_copilot(custom_features=CUSTOM_FEATURES)
    values = read_form(builder, change_url(copilot), form_id=FORM)
    address = f"{reverse('admin:copilot_admin_copilot_preview')}?id={copilot.pk}"
    response = builder.post(
        address,
        {
            **values,
            "name": "<b>Bold</b>",
            "description": "New words",
            "features": ["widget-dashboard-select", "widget-global-search"],
            "starters-0-text": "First?",
            "model_choices-0-id": "m-1",
            "model_choices-0-name": "Model one",
            "custom_features-3-label": "",
            "custom_features-3-description": "half a row",
            "image_url": "https://example.com/a.png",
        },
    )
    page = response.content.decode()
    for text in ("&lt;b&gt;Bold&lt;/b&gt;", "New words", "Selected widgets", "Global data"):
        assert text in page
    for text in ("First?", "Model one", "Deep Research", "e.g. bullish", "https://example.com/a"):
        assert text in page
    assert "half a row" not in page
    assert "<img" not in page
    copilot.refresh_from_db()
    assert copilot.description == ""


def test_the_preview_has_the_switches_and_values_that_workspace_would_send(builder: Client) -> None:
    tone = {"key": "tone", "label": "Tone", "type": "select", "default": "long"}
    options = [{"label": "In short", "value": "short"}, {"label": "At length", "value": "long"}]
    copilot = make_copilot(
        features={"prompt-suggestions": True}, custom_features=[{**tone, "options": options}]
    )
    page = builder.get(change_url(copilot)).content.decode()
    assert '<option value="short">In short</option>' in page
    assert '<option value="long" selected>At length</option>' in page
    switch = 'data-ca-option="prompt-suggestions" checked'
    assert page.count(switch) == 1
    copilot.features = {"prompt-suggestions": False}
    copilot.save()
    assert switch not in builder.get(change_url(copilot)).content.decode()


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
    page = client.get(change_url(copilot)).content.decode()
    for words in ("Closed", "One.\nTwo.", "First?", "table", "Deep Research", "Selected widgets"):
        assert words in page
    assert reverse("admin:copilot_admin_provider_change", args=[provider.pk]) not in page
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
    page = builder.get(change_url(copilot)).content.decode()
    assert "Always the newest version." in page
    assert "This server has no such component. Switch it off." in page
    chosen = ["calculator@v1", "returns_toolkit@v1", "chart_maker@v1"]
    stored(builder, copilot, components=chosen, stream_all_text="on")
    copilot.refresh_from_db()
    assert copilot.stream_all_text is True
    assert sorted(copilot.components, key=lambda row: row["name"]) == [
        {"name": "calculator", "version": "v1"},
        {"name": "chart_maker", "version": "v1"},
        {"name": "returns_toolkit", "version": "v1", "config": {"window": 21}},
    ]
