"""Rename the kind of the demo provider and its model, from "rehearsal" to "demo"."""

from django.db import migrations


def rename(apps, old, new):
    copilot_admin = "copilot_admin"
    providers = apps.get_model(copilot_admin, "Provider").objects.filter(kind=old)
    ids = list(providers.values_list("pk", flat=True))
    providers.update(kind=new)
    copilots = apps.get_model(copilot_admin, "Copilot").objects
    copilots.filter(provider__in=ids, model=old).update(model=new)
    # Versions never change: their model has its price under the old name too.
    prices = apps.get_model(copilot_admin, "ModelPrice").objects
    for price in prices.filter(provider__in=ids, model=old):
        price.pk = None
        price.model = new
        price.save()


def forward(apps, schema_editor):
    rename(apps, "rehearsal", "demo")


def backward(apps, schema_editor):
    rename(apps, "demo", "rehearsal")


class Migration(migrations.Migration):
    dependencies = [("copilot_admin", "0016_reroute_approval")]
    operations = [migrations.RunPython(forward, backward)]
