"""In how many of CSFCube's pairs a marked sentence is out of view when the pair opens.

    python benchmarks/marks_in_view.py path/to/CSFCube

Starts a Label Studio of its own in a new folder, opens one task in Chromium, and puts the text of every pooled pair of
the release, asked for each facet, in the place of that task's, as Label Studio does when it opens the next one. Counted
are pairs in which some sentence of the facet, in either column, does not lie wholly inside its column. `before` is what
the columns show when nothing scrolls them. Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.records import PairKey, Query
from annot.base.settings import Settings
from annot.formats.csfcube import is_release_file, read_release
from annot.labelstudio import server
from annot.labelstudio.accounts import make_accounts
from annot.labelstudio.gateway import Gateway, deliver
from annot.labelstudio.screens import screen_of
from annot.labelstudio.studio_records import ProjectSpec
from annot.labelstudio.tasks import Layout, judge_task

SIZES = ((1280, 720), (1440, 757), (1920, 1080))
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
HELP = "What is asked of each pair stands here, in a line of about the length that a definition of a facet has in use."

OUT_OF_VIEW = """pairs => {
    const frame = document.querySelector('.annot .a-pair').parentElement;
    const before = frame.innerHTML;
    const hidden = column => {
        const box = column.getBoundingClientRect();
        return [...column.querySelectorAll('.a-hit')].some(sentence => {
            const own = sentence.getBoundingClientRect();
            return own.top < box.top - 1 || own.bottom > box.bottom + 1;
        });
    };
    const counted = [];
    for (const pair of pairs) {
        frame.innerHTML = pair;
        const columns = [...frame.querySelectorAll('.a-text')];
        frame.getBoundingClientRect();
        const opened = columns.some(hidden);
        columns.forEach(column => column.scrollTo(0, 0));
        counted.push([opened, columns.some(hidden)]);
    }
    frame.innerHTML = before;
    return counted;
}"""
"""For each pair's HTML: is a marked sentence out of view as the pair opens, and would one be without scrolling."""


class Opened(NamedTuple):
    """The pairs of one facet in one window."""

    pairs: int
    out_of_view: int
    unscrolled: int
    """Out of view when nothing had scrolled."""


def release_tasks(folder: Path) -> list[dict[str, Any]]:
    """The judging task of every pooled pair of a CSFCube release, in every facet of ours.

    The release's queries keep their own sentences; a facet that it did not ask of a paper has those labelled so.
    """
    settings = Settings()
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    release = read_release(
        {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)},
        name=str(folder),
        known_labels=settings.labels.names,
        facet_labels=settings.facets,
    )
    papers = {paper.paper_id: paper for paper in release.papers}
    queries = {query.query_id: query for query in release.queries}
    tasks = []
    for pool in release.pools:
        documents = [entry.doc_id for entry in pool.entries]
        for facet, labels in settings.facets.items():
            query_id, paper = f"{pool.topic_id}-{facet}", papers[pool.topic_id]
            by_label = tuple(index for index, label in enumerate(paper.labels or ()) if label in labels)
            for place, doc_id in enumerate(documents, start=1):
                tasks.append(
                    judge_task(
                        asked=PairKey(query_id, doc_id),
                        query=queries.get(query_id) or Query(query_id, pool.topic_id, facet, by_label),
                        topic=paper,
                        document=papers[doc_id],
                        facet_help=HELP,
                        facet_labels=labels,
                        progress=f"37 of 300 · query 4, candidate {place} of {len(documents)}",
                        layout=Layout(first=False, fold_after=500, mark_terms=False),
                    )
                )
    return tasks


def opened(page: Any, tasks: Sequence[dict[str, Any]]) -> dict[str, Opened]:
    """What is out of view, by facet and `all` together; `page` shows a task of the judging screen."""
    found = page.evaluate(OUT_OF_VIEW, [task["data"]["pair_html"] for task in tasks])
    by_facet: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for task, (out, unscrolled) in zip(tasks, found, strict=True):
        for name in (task["data"]["facet"], "all"):
            by_facet[name].append((out, unscrolled))
    return {
        name: Opened(len(each), sum(out for out, _ in each), sum(before for _, before in each))
        for name, each in by_facet.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", type=Path)
    tasks = release_tasks(parser.parse_args().release)
    folder = Path(tempfile.mkdtemp(prefix="annot-marks-"))
    try:
        running = server.up(folder, environ=os.environ, port=None, say=print)
        with Gateway(running.url, server.credentials(folder).token) as gateway:
            address = "looking@example.org"
            passwords = folder / "passwords.tsv"
            make_accounts(running.url, [address], invitation=gateway.invitation, passwords=passwords)
            settings = Settings()
            screen = screen_of(
                "judge", scale_names=settings.scale.names, labels=settings.labels.names, language="en", overrides=None
            )
            spec = ProjectSpec(
                marker="marks",
                title="Marks in view",
                description="",
                label_config=screen,
                instructions="",
                color="#617ADA",
            )
            project = gateway.create_project(spec)
            deliver(gateway, project, tasks[:1])
            print_measured(gateway.labelling_url(project), running.url, address, passwords, tasks)
    finally:
        server.down(folder)
        shutil.rmtree(folder, ignore_errors=True)


def print_measured(url: str, server_url: str, address: str, passwords: Path, tasks: Sequence[dict[str, Any]]) -> None:
    """Open the stream in Chromium at each size and print a table."""
    from playwright.sync_api import sync_playwright

    password = dict(line.split("\t") for line in passwords.read_text(encoding="utf-8").splitlines())[address]
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, CHROMIUM)))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"{server_url}/user/login/")
        page.fill("input[name=email]", address)
        page.fill("input[name=password]", password)
        page.click("button[type=submit]")
        page.wait_for_url(lambda at: "/user/login" not in at)
        page.goto(url)
        page.wait_for_selector(".a-cand .htx-highlight")
        print(f"{'window':<12} {'facet':<12} {'pairs':>6} {'out of view':>12} {'before':>8}")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for facet, count in sorted(opened(page, tasks).items()):
                print(
                    f"{f'{width} x {height}':<12} {facet:<12} {count.pairs:>6} "
                    f"{count.out_of_view / count.pairs:>12.1%} {count.unscrolled / count.pairs:>8.1%}"
                )
        browser.close()


if __name__ == "__main__":
    main()
