"""A command."""

from typing import TYPE_CHECKING

from annot.cli.commands import command
from annot.cli.output import Output

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("count")
def count(ws: "Workspace") -> Output:
    """Count the queries of the study."""
    from annot.store.pools import read_queries

    with ws.reading() as session:
        queries = len(read_queries(session))
    return Output({"queries": queries}, f"{queries} queries")
