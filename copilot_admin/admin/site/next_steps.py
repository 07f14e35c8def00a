"""What is worth doing next, with the place to do it: the head of the start page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.site.cards import Overview
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.models import Copilot, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """Something worth doing, with the place to do it."""

    title: str | Promise
    sentence: str | Promise
    url: str
    button: str | Promise


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said of one copilot in a state, and of several."""

    one: str | Promise
    several: str | Promise
    sentence: str | Promise  # of several
    button: str | Promise


_UNFINISHED: Mapping[CopilotState, _Words] = {
    CopilotState.BROKEN: _Words(
        _("%(name)s is broken"),
        _("%(count)d copilots are broken"),
        _("Published, but they cannot answer as they are configured."),
        _("Mend it"),
    ),
    CopilotState.CHANGED: _Words(
        _("%(name)s has unpublished changes"),
        _("%(count)d copilots have unpublished changes"),
        _("Live, and their drafts differ from what is live."),
        _("Look at them"),
    ),
    CopilotState.DRAFT: _Words(
        _("%(name)s is only a draft"),
        _("%(count)d copilots are only drafts"),
        _("Never published: nobody sees them yet."),
        _("Finish it"),
    ),
}


def next_steps(user: AbstractBaseUser | AnonymousUser, overview: Overview) -> list[NextStep]:
    """The steps that lead on from here, most urgent first; an empty page says itself how to begin."""
    return list(_steps(user, overview)) if isinstance(user, PermissionsMixin) else []


def _steps(user: PermissionsMixin, overview: Overview) -> Iterator[NextStep]:
    may_begin = user.has_perm("copilot_admin.add_copilot")
    adds_providers = user.has_perm("copilot_admin.add_provider")
    if adds_providers and not may_begin and not Provider.objects.exists():
        yield NextStep(
            title=_("Add a provider"),
            sentence=_("It is where the models are. The demo model needs no key."),
            url=reverse("admin:copilot_admin_provider_add"),
            button=_("Add a provider"),
        )
    if user.has_perm("copilot_admin.change_copilot"):
        for state, words in _UNFINISHED.items():
            found = overview.in_state(state)
            if found:
                yield _step(state, words, found)


def _step(
    state: CopilotState, words: _Words, found: Sequence[tuple[Copilot, Standing]]
) -> NextStep:
    copilot, standing = found[0]
    if len(found) == 1:
        return NextStep(
            title=words.one % {"name": copilot.name},
            sentence=standing.sentence,
            url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
            button=words.button,
        )
    return NextStep(
        title=words.several % {"count": len(found)},
        sentence=words.sentence,
        url=f"{reverse('admin:copilot_admin_copilot_changelist')}?state={state.value}",
        button=_("Show them"),
    )
