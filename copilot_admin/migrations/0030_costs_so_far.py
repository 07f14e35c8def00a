"""What was answered before there were prices is of unknown cost, and the rehearsal costs nothing."""

from datetime import date
from typing import Any

from django.db import migrations
from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce


def say_unknown(apps: Any, schema_editor: Any) -> None:
    """No cost was ever written: the zeros that are there say nothing."""
    run, turn, conversation, usage = (
        apps.get_model("copilot_admin", name)
        for name in ("Run", "Turn", "Conversation", "DailyUsage")
    )
    run.objects.update(cost=None)
    conversation.objects.update(n_unpriced=F("n_runs"))
    runs = run.objects.filter(turn=OuterRef("pk")).order_by().values("turn")
    turn.objects.update(n_unpriced=Coalesce(Subquery(runs.annotate(n=Count("pk")).values("n")), 0))
    usage.objects.update(unpriced=F("runs"))


def say_zero(apps: Any, schema_editor: Any) -> None:
    """The tables of before know no unknown cost."""
    apps.get_model("copilot_admin", "Run").objects.filter(cost=None).update(cost=0)


def price_rehearsal(apps: Any, schema_editor: Any) -> None:
    """Gives every provider that rehearses the price that new ones get."""
    price = apps.get_model("copilot_admin", "ModelPrice")
    for provider in apps.get_model("copilot_admin", "Provider").objects.filter(kind="rehearsal"):
        price.objects.create(
            provider=provider,
            model="rehearsal",
            valid_from=date(2000, 1, 1),
            input=0,
            cached=0,
            output=0,
            reasoning=0,
        )


class Migration(migrations.Migration):

    dependencies = [("copilot_admin", "0029_model_prices")]

    operations = [
        migrations.RunPython(say_unknown, say_zero),
        migrations.RunPython(price_rehearsal, migrations.RunPython.noop),
    ]
