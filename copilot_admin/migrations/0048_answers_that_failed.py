"""Answers to saved questions say whether they are whole."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0046_indexes_of_review'),
    ]

    operations = [
        migrations.AddField(
            model_name='savedanswer',
            name='failed',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
