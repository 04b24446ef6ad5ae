"""Work on many parts by threads: who stops taking results stops the work."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from annot.base.parallel import in_threads


def test_what_has_not_begun_when_nobody_takes_more_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ending = Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            ending.set()
            super().shutdown(wait=wait)

    def work(part: int) -> int:
        begun.append(part)
        if part:
            ending.wait()
        return part

    monkeypatch.setattr("annot.base.parallel.ThreadPoolExecutor", Pool)
    results = in_threads(work, range(9), most=1)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert begun in ([0], [0, 1])
