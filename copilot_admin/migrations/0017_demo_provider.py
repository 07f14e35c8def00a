"""Rename the kind of the demo provider from "rehearsal" to "demo".

Drafts and versions keep the old name of its only model, which answers to any name; new ones use the
new name, so both have a price.
"""

from typing import Any

from django.db import migrations


def rename(apps: Any, old: str, new: str) -> None:
    copilot_admin = "copilot_admin"
    providers = apps.get_model(copilot_admin, "Provider").objects.filter(kind=old)
    ids = list(providers.values_list("pk", flat=True))
    providers.update(kind=new)
    prices = apps.get_model(copilot_admin, "ModelPrice").objects
    for price in prices.filter(provider__in=ids, model=old):
        if prices.filter(provider=price.provider, model=new, valid_from=price.valid_from).exists():
            continue
        price.pk = None
        price.model = new
        price.save()


def forward(apps: Any, schema_editor: Any) -> None:
    rename(apps, "rehearsal", "demo")


def backward(apps: Any, schema_editor: Any) -> None:
    rename(apps, "demo", "rehearsal")


class Migration(migrations.Migration):
    dependencies = [("copilot_admin", "0016_reroute_approval")]
    operations = [migrations.RunPython(forward, backward)]
