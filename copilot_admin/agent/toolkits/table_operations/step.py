"""What every operation on a table is."""

from abc import ABC, abstractmethod

from pydantic import BaseModel, ConfigDict

from copilot_admin.agent.toolkits.table_operations.table import Table


class TableStep(BaseModel, ABC):
    """Turns a table into another; its fields are what a model or a program asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def apply(self, table: Table) -> Table:
        """The table that it makes of another."""
