"""What a limit is of: the server, a copilot, a key, a user or an address."""

from dataclasses import dataclass

from copilot_admin.models.limits import Scope


@dataclass(frozen=True, slots=True)
class Subject:
    """One that is limited.

    Attributes:
        id: Of the copilot, the key, the user or the network; "" of the server.
    """

    scope: Scope
    id: str = ""

    @property
    def name(self) -> str:
        """As counters are named by it."""
        return f"{self.scope.value}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, as far as limits ask.

    Attributes:
        copilot_id: That is asked; None: a component that no copilot lends.
        user: The id of the user; "" if nobody says who he is.
        address: The network that the request came from; "": it came from this process.
        is_trial: A builder or a test asks: rates are not for it, budgets are.
        is_answered: An answer is given, which takes a seat and costs; else it is only a request.
    """

    copilot_id: int | None = None
    key_id: int | None = None
    user: str = ""
    address: str = ""
    is_trial: bool = False
    is_answered: bool = True

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody answers for it."""
        return self.key_id is None and not self.user and not self.is_trial

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Everything that it counts for, the narrowest first: who is told should know whose it is."""
        named = (
            (Scope.ADDRESS, self.address),
            (Scope.USER, self.user),
            (Scope.KEY, self.key_id),
            (Scope.COPILOT, self.copilot_id),
        )
        known = (Subject(scope, str(one)) for scope, one in named if one not in (None, ""))
        return (*known, Subject(Scope.SERVER))
