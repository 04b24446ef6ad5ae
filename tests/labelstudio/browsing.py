"""The screens in a real browser: a page on the stream of a project's tasks, and what it shows, read for the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annot.base.records import PairKey
from annot.labelstudio import studio_records
from annot.labelstudio.screens import screen_of
from annot.labelstudio.studio_records import ReadAnnotation, read_task
from fixtures_studio import Studio, written
from labelling_texts import LABELS, SCALE

JUDGE = screen_of("judge", scale_names=SCALE, labels=LABELS, language="en", overrides=None)
ADJUDICATE = screen_of("adjudicate", scale_names=SCALE, labels=LABELS, language="en", opinions=2, overrides=None)

RECTANGLES = """() => Object.fromEntries(Object.entries({
    facet: '.a-facet h4:nth-child(1)', help: '.a-facet h4:nth-child(2)', progress: '.a-facet h4:nth-child(3)',
    grades: '.a-grades', query_title: '.a-query h2', cand_title: '.a-cand h2', query: '.a-query .a-text',
    cand: '.a-cand .a-text', query_side: '.a-query', cand_side: '.a-cand', comment: '.a-comment',
    view: '.lsf-main-view', submit: 'button[name=submit]',
    opinions: '.a-opinions',
    differences: '.a-differences',
}).map(([name, selector]) => {
    const found = document.querySelector(selector);
    return [name, found ? found.getBoundingClientRect().toJSON() : null];
}))"""

LINES = """(side) => {
    const column = document.querySelector(`.a-${side} .a-text`).getBoundingClientRect();
    const lines = [];
    for (const paragraph of document.querySelectorAll(`.a-${side} p`)) {
        const style = getComputedStyle(paragraph);
        const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, range = document.createRange();
            let last = null;
            for (let at = 0; at < node.length; at++) {
                range.setStart(node, at); range.setEnd(node, at + 1);
                const box = range.getBoundingClientRect();
                if (last === null || box.top > last.top + 4) {
                    last = {top: box.top, bottom: box.bottom, letters: 0,
                            size: parseFloat(style.fontSize), height: parseFloat(style.lineHeight)};
                    lines.push(last);
                }
                last.letters += 1;
            }
        }
    }
    return lines.map(line => ({...line, seen: line.top >= column.top - 1 && line.bottom <= column.bottom + 1}));
}"""

MARKS = """() => [...document.querySelectorAll('.a-text p')].map(paragraph => {
    const style = getComputedStyle(paragraph), tag = getComputedStyle(paragraph, '::before');
    return {text: paragraph.textContent, tag: tag.content.replaceAll('"', ''), bar: style.boxShadow,
            weight: Number(style.fontWeight), tagBackground: tag.backgroundColor};
})"""

CONTRASTS = """() => {
    const parse = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const over = (a, b) => { const alpha = a[3] ?? 1; return [0, 1, 2].map(i => a[i] * alpha + b[i] * (1 - alpha)); };
    const light = (c) => { const [r, g, b] = c.map(v => { v /= 255;
        return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
    const ratio = (a, b) => {
        const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + .05) / (y + .05); };
    const ground = (element) => { const layers = [];
        for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]); };
    const found = [];
    const note = (name, element, pseudo, property, behind) => {
        const style = getComputedStyle(element, pseudo);
        found.push([name, ratio(over(parse(style[property]), behind), behind)]);
    };
    for (const element of document.querySelectorAll(
        '.annot h2, .annot h2 span, .annot h4, .annot .ant-radio-wrapper, .annot b, .annot kbd, .annot p,' +
        '.annot .a-none, .annot .lsf-label, .annot .lsf-label span, .annot summary, .annot mark')) {
        if (!element.offsetParent) continue;
        note('text ' + element.tagName + '.' + element.className, element, null, 'color', ground(element));
    }
    for (const paragraph of document.querySelectorAll('.annot p')) {
        const tag = getComputedStyle(paragraph, '::before');
        const behind = over(parse(tag.backgroundColor), ground(paragraph));
        note('tag ' + tag.content, paragraph, '::before', 'color', behind);
        const bar = getComputedStyle(paragraph).boxShadow;
        if (bar !== 'none') found.push(['mark', ratio(parse(bar.split(')')[0]), ground(paragraph.parentElement))]);
    }
    for (const box of document.querySelectorAll('.annot .ant-radio-wrapper, .annot .lsf-label, .annot .a-side,' +
        '.annot .a-comment input')) {
        if (!box.offsetParent) continue;
        note('border ' + box.className, box, null, 'borderTopColor', ground(box.parentElement));
    }
    return found;
}"""


NOTHING_FADES = "() => !document.getAnimations().some(one => one instanceof CSSTransition)"


PLAIN = ".a-cand p"
"""What is there where no sentence has a label; nothing is on such a task before it is judged."""


OPENING = '.ant-modal-root [class*="zoom-"], .ant-modal-root [class*="fade-"]'
"""Dialogs that open or close."""


class Screen:
    """A page on the stream of a project's tasks."""

    def __init__(self, page: Any, url: str, text: str) -> None:
        self.page = page
        self.url = url
        self._plain = text == PLAIN
        self._text = text if self._plain else f"{text} .htx-highlight"

    def open(self) -> None:
        self.page.goto(self.url)
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_selector(self._text)
        self.page.wait_for_selector(f"button[name=submit]{'' if self._plain else ':not([disabled])'}")

    def close_instructions(self) -> None:
        self.page.wait_for_selector(".lsf-modal-ls__body")
        self.page.keyboard.press("Escape")
        self.page.wait_for_selector(".lsf-modal-ls__body", state="detached")

    def resize(self, size: tuple[int, int]) -> None:
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.wait_for_function("size => innerWidth === size[0] && innerHeight === size[1]", arg=list(size))

    def contrasts(self, theme: str) -> list[tuple[str, float]]:
        """The contrast of everything on the screen, by what it is, in the theme `light` or `dark`."""
        self.page.evaluate("theme => { document.documentElement.dataset.colorScheme = theme; }", theme)
        self.page.wait_for_function(NOTHING_FADES)
        return [(name, ratio) for name, ratio in self.page.evaluate(CONTRASTS)]

    def refused(self) -> str:
        """The warning that a submission brings; the dialog is closed again."""
        self.press("Control+Enter")
        warning = self.page.locator(".ant-modal-confirm-content").first
        warning.wait_for()
        said = str(warning.inner_text())
        # A dialog that is closed while it opens may stay for ever, which nobody does by hand.
        self._happens(f"!document.querySelector({OPENING!r})")
        for _ in range(6):
            self.page.evaluate("document.querySelectorAll('.ant-modal-confirm-btns button').forEach(it => it.click())")
            if self._happens("!document.querySelector('.ant-modal-confirm-content')"):
                return said
        raise AssertionError(self.page.locator(".ant-modal-root").first.evaluate("dialog => dialog.outerHTML"))

    def _happens(self, condition: str) -> bool:
        """Wait ten seconds for something on the page; False if it does not happen."""
        try:
            self.page.wait_for_function(f"() => {condition}", timeout=10_000)
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
            return False
        return True

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def strike(self, key: str, *, alt: bool = False) -> None:
        """Press a key as a keyboard does it."""
        strike(self.page, key, alt=alt)

    def choose(self, key: str, value: str) -> None:
        """Press the key and wait until the screen shows its value as chosen."""
        self.press(key)
        self.page.wait_for_selector(f'.annot input[name="{value}"]:checked', state="attached")

    def submit(self) -> None:
        """Submit by key, and wait until the server has it, and for the next task."""
        before = self.progress
        with written(self.page):
            self.press("Control+Enter")
        self.page.wait_for_function(
            "before => { const p = document.querySelector('.a-facet h4:nth-child(3)');"
            " return p && p.textContent !== before; }",
            arg=before,
        )
        self.settle()

    def change_the_one_before(self, key: str, value: str) -> None:
        """Go back to the pair before, change its grade and update it, all by keys."""
        before = self.progress
        tab_to(self.page, "[aria-label='Previous task']")
        self.press("Space")
        self.page.wait_for_function(
            "before => { const p = document.querySelector('.a-facet h4:nth-child(3)');"
            " return p && p.textContent !== before; }",
            arg=before,
        )
        self.page.wait_for_selector("[data-testid=bottombar-update-button]")
        self.page.wait_for_selector(self._text)
        self.choose(key, value)
        self.page.wait_for_selector("[data-testid=bottombar-update-button]:not([disabled])")

        def updated(response: Any) -> bool:
            return response.request.method == "PATCH" and "/annotations" in response.url

        with self.page.expect_response(updated) as taken:
            self.press("Control+Enter")
        assert taken.value.status == 200

    def submit_last(self) -> None:
        with written(self.page):
            self.press("Control+Enter")
        self.page.wait_for_selector(".annot", state="detached")

    @property
    def tops(self) -> list[float]:
        """How far the query's and the candidate's columns are scrolled."""
        found: list[float] = self.page.evaluate(
            "() => ['query', 'cand'].map(side => document.querySelector(`.a-${side} .a-text`).scrollTop)"
        )
        return found

    @property
    def focus(self) -> str:
        """Where the keys go: `query`, `cand`, `comment`, or nowhere in particular."""
        places = {"query": ".a-query .a-text", "cand": ".a-cand .a-text", "comment": ".a-comment input"}
        inside = "selector => document.activeElement.matches(selector)"
        return next((name for name, selector in places.items() if self.page.evaluate(inside, selector)), "nowhere")

    @property
    def progress(self) -> str:
        return str(self.page.locator(".a-facet h4:nth-child(3)").inner_text())

    @property
    def boxes(self) -> Any:
        return self.page.evaluate(RECTANGLES)

    @property
    def marks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate(MARKS)
        return found

    def marked(self) -> list[str]:
        """The sentences with the strong mark: a bar at the side and a filled tag with text in it."""
        strong = [mark for mark in self.marks if mark["bar"] != "none"]
        assert all(mark["tag"] not in ("", "none") for mark in strong)
        assert all(mark["tagBackground"] != "rgba(0, 0, 0, 0)" for mark in strong)
        return [mark["text"] for mark in strong]


def too_pale(contrasts: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """What has less contrast than letters (4.5) or borders and marks (3) need."""
    needed = {"border": 3.0, "mark": 3.0}
    return [
        (name, round(ratio, 2))
        for name, ratio in contrasts
        if name != "tag none" and ratio < needed.get(name.split()[0], 4.5)
    ]


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until the keys go there."""
    for _ in range(30):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


@contextmanager
def followed_link(studio: Studio, chromium: Any, project: int, size: tuple[int, int]) -> Iterator[Screen]:
    """A fresh browser in which a person has opened the link of their letter, and signed in by keyboard."""
    studio.account("browsing")
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    with studio.gateway() as gateway:
        screen = Screen(page, gateway.labelling_url(project), ".a-cand")
    try:
        page.goto(screen.url)
        tab_to(page, "input[name=email]")
        page.keyboard.type("browsing@example.org")
        tab_to(page, "input[name=password]")
        page.keyboard.type(studio.password("browsing"))
        page.keyboard.press("Enter")
        screen.settle()
        yield screen
    finally:
        context.close()


def strike(page: Any, key: str, *, alt: bool = False) -> None:
    """Press a key as a keyboard does it, which brings the browser's own doing with it: Alt and a letter go to a place
    on the page."""
    event = {"key": key, "code": f"Key{key.upper()}", "windowsVirtualKeyCode": ord(key.upper()), "modifiers": 1 * alt}
    session = page.context.new_cdp_session(page)
    text = {"unmodifiedText": key} if alt else {"text": key, "unmodifiedText": key}
    session.send("Input.dispatchKeyEvent", {**event, **text, "type": "keyDown"})
    session.send("Input.dispatchKeyEvent", {**event, "type": "keyUp"})
    session.detach()


@contextmanager
def open_screen(
    studio: Studio,
    signed_in: Any,
    project: int,
    size: tuple[int, int] = (1440, 900),
    theme: str = "Light",
    text: str = ".a-cand",
) -> Iterator[Screen]:
    """A page on the project's stream, once the marks of `text` are there."""
    page = signed_in.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(f"localStorage.setItem('preferred-color-scheme', '{theme}')")
    with studio.gateway() as gateway:
        screen = Screen(page, gateway.labelling_url(project), text)
    try:
        screen.open()
        yield screen
    finally:
        page.close()


def judging(
    studio: Studio,
    tasks: list[dict[str, Any]],
    *,
    instructions: str = "",
    screen: str = JUDGE,
    may_be_empty: bool = False,
) -> int:
    """A new project with these tasks."""
    with studio.gateway() as gateway:
        return studio.project(gateway, screen, tasks, instructions=instructions, may_be_empty=may_be_empty)


def stored(studio: Studio, project: int) -> list[ReadAnnotation]:
    """Everything answered in the project, read."""
    with studio.gateway() as gateway:
        account = studio.account("browsing").user_id
        pulled = gateway.pull(project)
        return [
            r
            for t in pulled
            for r in read_task(t.annotations, pair_key=PairKey("q", "d"), grades=range(4), accounts=[account])
        ]


def stored_labels(reading: ReadAnnotation) -> dict[str, str]:
    """The label of each sentence, by region id."""
    marked = [item for item in reading.payload["result"] if item["from_name"] == studio_records.SENTENCE_LABEL]
    return {item["id"]: item["value"]["labels"][0] for item in marked}


def corrected(reading: ReadAnnotation) -> list[str]:
    """The regions that the person changed or set."""
    marked = [item for item in reading.payload["result"] if item["from_name"] == studio_records.SENTENCE_LABEL]
    return sorted(item["id"] for item in marked if item["origin"] != "prediction")
