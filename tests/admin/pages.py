"""Uses pages as a browser without JavaScript does: reads a form, fills it in, presses a button."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse
from lxml.etree import HTMLParser, fromstring

Values = dict[str, list[str]]


class _FormReader:
    """Collects what a browser would send of one form, while `lxml` reads the page.

    Python's own parser takes as long for the form of a copilot as the server for half of it.
    """

    def __init__(self, form_id: str) -> None:
        self.form_id = form_id
        self.values: Values = {}
        self._inside = False
        self._templates = 0
        self._select = ""
        self._options: list[tuple[str, bool]] = []
        self._takes_several = False
        self._textarea = ""
        self._text: list[str] = []

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "form" and given.get("id") == self.form_id:
            self._inside = True
        self._templates += tag == "template"
        if not self._inside or self._templates or "disabled" in given:
            return
        name = given.get("name", "")
        match tag:
            case "input":
                self._input(name, given)
            case "select":
                self._select, self._options = name, []
                self._takes_several = "multiple" in given
            case "option" if self._select:
                self._options.append((given.get("value", ""), "selected" in given))
            case "textarea":
                self._textarea, self._text = name, []

    def end(self, tag: str) -> None:
        self._templates -= tag == "template"
        if tag == "select" and self._select:
            chosen = [value for value, is_chosen in self._options if is_chosen]
            if not self._takes_several:
                chosen = (chosen or [value for value, _ in self._options[:1]])[:1]
            for value in chosen:
                self._put(self._select, value)
            self._select = ""
        elif tag == "textarea" and self._textarea:
            self._put(self._textarea, "".join(self._text).removeprefix("\n"))
            self._textarea = ""
        elif tag == "form":
            self._inside = False

    def data(self, data: str) -> None:
        if self._textarea:
            self._text.append(data)

    def close(self) -> Values:
        return self.values

    def _input(self, name: str, given: Mapping[str, str]) -> None:
        kind = given.get("type", "text")
        if not name or kind in ("submit", "button", "file"):
            return
        if kind not in ("checkbox", "radio"):
            self._put(name, given.get("value", ""))
        elif "checked" in given:
            self._put(name, given.get("value", "on"))

    def _put(self, name: str, value: str) -> None:
        self.values.setdefault(name, []).append(value)


def read_form(client: Client, url: str, *, form_id: str) -> Values:
    """What a browser would send if the button were pressed at once."""
    response = client.get(url)
    assert response.status_code == 200, response.status_code
    return values_in(response.content.decode(), form_id=form_id)


def values_in(html: str, *, form_id: str) -> Values:
    """The values of a form in a page."""
    values: Values = fromstring(html, HTMLParser(target=_FormReader(form_id)))
    assert values, f"the page has no form {form_id}"
    return values


def submit(
    client: Client, url: str, changes: Mapping[str, Any], *, form_id: str, button: str = "_continue"
) -> Any:
    """Fills in a form and presses a button; returns the answer, redirects followed."""
    values = read_form(client, url, form_id=form_id) | {button: ["x"]}
    return client.post(url, merged(values, changes), follow=True)


def merged(values: Values, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The values with changes; None takes a value away, as unticking a box does."""
    all_values = {**values, **changes}
    return {name: value for name, value in all_values.items() if value is not None}


def messages_of(response: Any) -> list[str]:
    """What the page says at its top."""
    return [str(message) for message in response.context["messages"]]


def names_in(response: Any) -> list[str]:
    """The names of the rows of a list."""
    return [row.name for row in response.context["cl"].result_list]


def act(client: Client, url: str, action: str, *rows: Model, **more: str) -> Any:
    """Choose an action for rows of a list."""
    data = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    return client.post(url, data, follow=True)


def url_of(row: Model, page: str = "change") -> str:
    """The URL of a page of a row."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}", args=[row.pk])


def publish_url(*copilots: Model) -> str:
    """The URL of the page that publishes these copilots."""
    query = "&".join(f"id={copilot.pk}" for copilot in copilots)
    return f"{reverse('admin:copilot_admin_copilot_publish')}?{query}"


def errors_of(response: Any) -> dict[str, list[str]]:
    """The errors of a form, by field."""
    return dict(response.context["adminform"].form.errors)


def row_errors(response: Any, name: str) -> list[dict[str, list[str]]]:
    """The errors of the rows of a field, by field of a row."""
    formset = response.context["adminform"].form[name].value()
    formset.is_valid()
    return [dict(form.errors) for form in formset.forms]
