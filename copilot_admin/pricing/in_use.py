"""The models that copilots ask, and which of them have no price."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from copilot_admin.models import Copilot, ModelPrice, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpricedModel:
    """A model that may be asked, and the names of the copilots that ask it."""

    provider: Provider
    model: str
    copilots: tuple[str, ...]


def unpriced_models() -> tuple[UnpricedModel, ...]:
    """The models of all drafts and of what is live that have no price now, in four queries."""
    users: dict[tuple[int, str], set[str]] = defaultdict(set)
    providers = {provider.pk: provider for provider in Provider.objects.order_by("name")}
    by_name = {provider.name.lower(): provider.pk for provider in providers.values()}
    for name, provider_id, document in _documents():
        for other, model in _models_of(document):
            users[by_name.get(other.lower(), provider_id), model].add(name)
    today = datetime.now(UTC).date()
    rows = ModelPrice.objects.filter(valid_from__lte=today).order_by()
    priced = set(rows.values_list("provider_id", "model").distinct())
    return tuple(
        UnpricedModel(
            provider=providers[provider_id], model=model, copilots=tuple(sorted(users[key]))
        )
        for key in sorted(users.keys() - priced, key=lambda key: (providers[key[0]].name, key[1]))
        for provider_id, model in (key,)
    )


def _documents() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Each draft, and what is live of it: copilot, provider, and where its models stand."""
    columns = ("name", "provider_id", "model", "model_choices", "custom_features")
    found = Copilot.objects.filter(deletion_requested_at=None).order_by()
    for name, provider_id, model, choices, features in found.values_list(*columns):
        keys = {"model": model, "models": choices, "custom_features": features}
        yield name, provider_id, keys
    live = found.filter(live__isnull=False)
    yield from live.values_list("name", "live__provider_id", "live__document")


def _models_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The models with the names of their providers; empty: the copilot's own."""
    yield from (("", model) for model in (document.get("model"),) if model)
    yield from (("", row["id"]) for row in _rows(document.get("models")) if row.get("id"))
    for row in _rows(document.get("custom_features")):
        if row.get("model"):
            yield str(row.get("provider") or ""), str(row["model"])


def _rows(value: object) -> Iterable[Mapping[str, Any]]:
    rows = value if isinstance(value, list) else ()
    return (row for row in rows if isinstance(row, Mapping))
