"""Pictures of the screens for these pages: `python docs/take_pictures.py demo-workspace`, after `make demo`.

Takes the first pair of an assessor and the first dispute, as they look once answered, and the report's first screen.
Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from annot.judging.exchange.servers import connect, passwords_file
from annot.labelstudio.accounts import read_passwords
from annot.store import people, projects
from annot.store.database import open_store
from annot.study.workspace import Workspace
from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).resolve().parent / "pictures"
WINDOW = {"width": 1280, "height": 820}
TAKEN = (("judge", "a1"), ("adjudicate", "j1"))


def take(page: Page, ws: Workspace, round: projects.Round, person: str) -> None:
    """Log in as the person, open the first task of their project, and keep a picture of it."""
    with open_store(ws.database_url) as store, store.read() as session:
        (project,) = [one for one in projects.read_projects(session, round=round) if one.assessor == person]
        task_id = min(projects.read_tasks(session, project.project).values())
        (account,) = [one.account for one in people.read_assessors(session) if one.assessor == person]
    assert account is not None
    password = read_passwords(passwords_file(ws))[account]
    with connect(ws) as gateway:
        url = gateway.url
    page.goto(f"{url}/user/login/")
    page.fill("input[name=email]", account)
    page.fill("input[name=password]", password)
    page.click("button[type=submit]")
    page.wait_for_load_state("networkidle")
    page.goto(f"{url}/projects/{project.remote_id}/data?task={task_id}")
    page.wait_for_selector(".a-cand .htx-highlight", timeout=60_000)
    page.wait_for_timeout(1500)
    page.locator(".lsf-main-view").screenshot(path=PICTURES / f"{round}.png")


def main(folder: Path) -> None:
    ws = Workspace.open(folder)
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for round, person in TAKEN:
            context = browser.new_context(viewport=WINDOW)
            take(context.new_page(), ws, round, person)
            context.close()
        page = browser.new_page(viewport=WINDOW)
        page.goto((ws.exports / "report.html").resolve().as_uri())
        page.screenshot(path=PICTURES / "report.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
