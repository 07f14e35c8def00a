"""Emptying the database leaves what migrating makes, so that tests need not make it anew."""

import pytest

from tests.emptying import GRANTED, roles_are_as_migrated


@pytest.mark.django_db
def test_the_roles_of_a_new_database_are_known_to_whoever_empties_it():
    assert roles_are_as_migrated()


@pytest.mark.django_db
def test_a_right_that_a_test_took_is_noticed():
    GRANTED.objects.order_by("pk").last().delete()
    assert not roles_are_as_migrated()
