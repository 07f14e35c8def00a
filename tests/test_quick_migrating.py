"""Tables that are made more cheaply have the fields that Django would give them."""

from django.apps import apps

from tests.quick_migrating import quick_migrating


def test_a_field_is_made_again_as_django_makes_it():
    fields = [field.clone() for model in apps.get_models() for field in model._meta.local_fields]
    expected = [field.clone().deconstruct() for field in fields]
    with quick_migrating():
        found = [[field.clone().deconstruct() for field in fields] for _ in range(2)]
    assert found == [expected, expected]
