"""Pool: rank the corpus for each query paper and draw what is to be judged."""

from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import CsvOption, DryRunOption, JsonOption, WorkspaceOption, emit, hand_down, progress, say, table

PANEL = "Pool"

pool = typer.Typer(invoke_without_command=True)


def register(app: typer.Typer) -> None:
    app.add_typer(pool, name="pool", rich_help_panel=PANEL)


@pool.callback()
def pool_build(
    ctx: typer.Context,
    mode: Annotated[str | None, typer.Option(help="round-robin or blocks.", show_default="annot.toml")] = None,
    per_method: Annotated[
        int | None, typer.Option(min=1, help="New documents each method draws.", show_default="annot.toml")
    ] = None,
    ranking_depth: Annotated[
        int | None, typer.Option(min=1, help="Documents kept of each ranking.", show_default="annot.toml")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Method to leave out; recorded with the pool; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the method order.", show_default="annot.toml")] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Draw from the rankings already in pools/rankings/.")
    ] = False,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Write the pools: rank the corpus by every method and draw a pool for each query paper; prints their sizes."""
    if hand_down(ctx):
        return
    from annot.steps import pool as step
    from annot.study.workspace import Workspace

    with progress("ranking") as advance:
        built = step.build(
            Workspace.open(workspace),
            mode=mode,
            per_method=per_method,
            ranking_depth=ranking_depth,
            without=tuple(without) if without else None,
            seed=seed,
            frozen=frozen,
            dry_run=dry_run,
            advance=advance,
        )
    for note in built.notes:
        say(note)
    rows = [
        [one.paper_id, one.queries, one.size, one.cited, one.cited_outside, " ".join(one.dry)] for one in built.pools
    ]
    text = table(["query paper", "queries", "pool", "cited", "cited, not in corpus", "exhausted methods"], rows)
    emit("pool", built, text, as_json=as_json, as_csv=as_csv)


@pool.command("show")
def pool_show(
    query: Annotated[str, typer.Argument(help="A query id, or the id of a query paper.")],
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print the pool of one query: which method drew each document, at which rank, and which others ranked it."""
    from annot.steps import pool as step
    from annot.study.workspace import Workspace

    shown = step.show(Workspace.open(workspace), query)
    rows = [
        [
            entry.drawn.turn,
            entry.doc_id,
            entry.drawn.method,
            entry.drawn.rank,
            "" if entry.drawn.score is None else f"{entry.drawn.score:.6g}",
            " ".join(draw.method if draw.rank is None else f"{draw.method}:{draw.rank}" for draw in entry.also),
            shown.titles.get(entry.doc_id, "")[:60],
        ]
        for entry in shown.pool.entries
    ]
    text = table(["turn", "document", "drawn by", "rank", "score", "also ranked by", "title"], rows)
    emit("pool show", shown.pool, f"{step.headline(shown.pool)}\n\n{text}", as_json=as_json, as_csv=as_csv)
