"""Which share of a list a queue was drawn of, and with which seed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0048_answers_that_failed'),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewqueue',
            name='seed',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='reviewqueue',
            name='share',
            field=models.PositiveSmallIntegerField(null=True),
        ),
    ]
