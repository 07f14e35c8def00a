"""Who is still let through, of those who were once."""

from copilot_admin.config.roles import Role
from copilot_admin.copilots.callers import switched_off
from tests.factories import make_user


def test_of_those_who_try_who_was_switched_off_is_told_apart(db):
    active, off = make_user(Role.BUILDERS), make_user(Role.BUILDERS, is_active=False)
    trying = {f"playground:{user.pk}" for user in (active, off)} | {"playground:0"}
    assert switched_off(trying) == {f"playground:{off.pk}"}


def test_a_command_that_tries_is_no_builder(db):
    off = make_user(Role.BUILDERS, is_active=False)
    assert switched_off({f"playground:{off.pk}", "playground:command"}) == {f"playground:{off.pk}"}
