"""A server in memory with a project and ten tasks, and the faults that the tests of the gateway give it."""

from collections import Counter
from collections.abc import Callable

import httpx
from annot.labelstudio.gateway import Gateway
from labelling_texts import task
from studio_contents import LEAD
from studio_in_memory import StudioInMemory

TOKEN = "5ecre7" * 6 + "abcd"


IMPORT = r"/import$"


LIST = r"^/api/tasks/?$"


def open_gateway(fake: StudioInMemory) -> Gateway:
    return Gateway("http://studio.example", TOKEN, transport=fake.transport)


def with_project() -> StudioInMemory:
    """A server with an empty project, of the id 1."""
    studio = StudioInMemory()
    studio.account(LEAD)["token"] = TOKEN
    studio.make_project("Judging")
    return studio


def answers(status: int, **more: object) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(status, json={"detail": "as the test wants it", **more})


def raises(error: type[httpx.TransportError]) -> Callable[[httpx.Request], httpx.Response]:
    def respond(request: httpx.Request) -> httpx.Response:
        raise error("as the test wants it", request=request)

    return respond


def keys(fake: StudioInMemory) -> Counter[str]:
    return Counter(made["data"]["pair_id"] for made in fake.tasks.values())


TASKS = [task(number) for number in range(1, 11)]


EACH_ONCE = Counter(made["data"]["pair_id"] for made in TASKS)
