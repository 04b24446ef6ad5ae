from __future__ import annotations
import pytest
from typing import Any
from annot.base.records import Asked, Paper, Query, Topic
from annot.labelstudio.screens import screen_of
from annot.labelstudio.tasks import judge_task, adjudicate_task, returned_task
from annot.labelstudio.columns import Layout
from browsing import judging, stored, strike, open_screen, LINES
from fixtures_studio import Studio
from labelling_texts import LABELS, SCALE, long_text, CANDIDATE, opinion

pytestmark = [pytest.mark.studio, pytest.mark.browser]
NARR = " ".join(["A document is relevant if it measures what people remember after a night of sleep, whatever the test. Reviews count as well if they report figures."] * 8)
T = Topic("T1", "sleep and memory", "How does sleep affect the memory of what truffle hounds learned the day before?", NARR)
JUDGE = screen_of("judge", scale_names=SCALE, labels=(), language="en", overrides=None)
ADJ = screen_of("adjudicate", scale_names=SCALE, labels=(), language="en", overrides=None, opinions=2)

def t(n, doc, opened, mark=True):
    return judge_task(asked=Asked("T1", f"d{n}"), query=Query("T1","T1","whole",()), topic=T, document=doc, facet_help="Whether the document answers the topic.", facet_labels=(), progress=f"{n} of 3 · topic 1, document {n} of 3", layout=Layout(opened, 120, mark))

def test_x(studio: Studio, signed_in: Any) -> None:
    doc = long_text(CANDIDATE, 30)
    tasks = [t(1, doc, True), t(2, doc, False), t(3, doc, False)]
    for name, screen, tasks in (("j", JUDGE, tasks), ("a", ADJ, [adjudicate_task(one, [opinion(1, None, None), opinion(3, None, "The lattice and the collars do the same work.")], scale_names=SCALE) for one in tasks]), ("r", JUDGE, [returned_task(tasks[0], "Look at the last sentence.")])):
        project = judging(studio, tasks, screen=screen)
        for size, theme in (((1280, 720), "Light"), ((1440, 900), "Dark")):
            page = signed_in.new_page()
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.add_init_script(f"localStorage.setItem('preferred-color-scheme', '{theme}')")
            with studio.gateway() as g:
                page.goto(g.labelling_url(project))
            page.wait_for_selector(".a-cand p")
            page.wait_for_timeout(700)
            page.screenshot(path=f"/tmp/w/tj_shots/{name}{size[0]}.png")
            if name == "j":
                strike(page, "n", alt=True); strike(page, "m", alt=True); page.wait_for_timeout(200)
                page.screenshot(path=f"/tmp/w/tj_shots/{name}{size[0]}b.png")
            page.close()
