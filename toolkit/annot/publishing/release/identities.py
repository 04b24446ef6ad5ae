"""What a study knows of people and servers: everything that must not leave it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from annot.base.records import Assessor
from annot.judging.exchange.servers import studio_folders
from annot.judging.opinions.model_server import KEY_VARIABLE
from annot.labelstudio.accounts import LocalSecrets, local_secrets
from annot.publishing.release.leaks import Kind, Secret
from annot.store.papers import paper_ids
from annot.study.snapshot import ReleaseRecords, Snapshot

ID_FIELDS = (
    *("id", "unique_id", "task", "project", "completed_by", "updated_by", "created_by", "last_created_by", "import_id"),
    *("prediction", "parent_prediction", "parent_annotation"),
)
"""Where Label Studio puts ids into an annotation; what assessors marked (`result`) has ids of our own."""
SHORTEST_TOKEN = 8
"""A shorter password stands in any text by chance."""
SHORTEST_WORD = 3
_ADDRESS = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+")


def secrets_of(
    study: Snapshot, server: ReleaseRecords, *, environ: Mapping[str, str], allowed: Collection[str]
) -> tuple[Secret, ...]:
    """All secrets: accounts, names, tokens, passwords, server ids and addresses.

    From the store, from the payloads that were pulled, from the local server's folder, and from the variables that
    name a server. Not among them: what is `allowed`, the names under which the makers want to be named, and server ids
    that are also ids of papers or of topics.
    """
    local = LocalSecrets.union(map(local_secrets, studio_folders(study.ws)))
    people = list(_people(server.payloads))
    accounts = {person.account for person in study.people if person.account} | local.addresses | set(people)
    addresses = {text for text in accounts if "@" in text}
    names = {name for text in accounts | local.names if (name := _name(text))}
    keys = (environ.get(name, "") for name in ("LABEL_STUDIO_API_KEY", KEY_VARIABLE))
    tokens = {*keys, _database_password(study.ws.database_url), *local.tokens}
    servers = {project.url for project in study.projects} | {environ.get("LABEL_STUDIO_URL", "")}
    public = {bare(text) for text in (*allowed, *study.ws.settings.collection.creators)}
    values: dict[Kind, set[str]] = {
        "e-mail": addresses,
        "name": names,
        "token": {token for token in tokens if len(token) >= SHORTEST_TOKEN},
        "studio address": servers - {""},
        "studio id": _server_ids(study, server) - _own_ids(study),
    }
    return tuple(Secret(kind, value) for kind in values for value in sorted(values[kind]) if bare(value) not in public)


def telling_pseudonyms(people: Iterable[Assessor], *, allowed: Collection[str]) -> tuple[str, ...]:
    """Pseudonyms that are a word of the account's own name: they hide nobody."""
    return tuple(
        person.assessor
        for person in people
        if person.account is not None
        and len(word := bare(person.assessor)) >= SHORTEST_WORD
        and word in {bare(part) for part in words_of(person.account.partition("@")[0])}
        and person.assessor not in allowed
    )


def _own_ids(study: Snapshot) -> set[str]:
    """Of papers and of topics: TREC numbers its topics as a server numbers its tasks."""
    return {*(paper_ids(study.ws.corpus) if study.ws.has_corpus else ()), *study.texts}


def _people(payloads: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Addresses and names in what was pulled: where they are not mere ids, accounts come as objects or as a line."""
    for payload in payloads:
        for field in ("created_username", "assessor", "annotator"):
            if isinstance(text := payload.get(field), str):
                yield from _ADDRESS.findall(text)
                yield re.sub(r",\s*\d+\s*$", "", _ADDRESS.sub("", text)).strip()
        for field in ("completed_by", "updated_by", "created_by"):
            if isinstance(account := payload.get(field), dict):
                yield from (account[key] for key in ("email", "username") if isinstance(account.get(key), str))
                yield " ".join(str(account.get(key) or "") for key in ("first_name", "last_name")).strip()


def _server_ids(study: Snapshot, server: ReleaseRecords) -> set[str]:
    ids = {one for project in study.projects for one in (project.remote_id, project.account_id) if one is not None}
    found = {str(one) for one in (*ids, *server.task_ids)}
    for payload in server.payloads:
        for field in ID_FIELDS:
            value = payload.get(field)
            if isinstance(value, dict):
                value = value.get("id")
            if isinstance(value, int | str) and not isinstance(value, bool) and str(value):
                found.add(str(value))
    return found


def _name(text: str) -> str | None:
    """A person's name in a name, or in an address such as `ada.planter@...`; one word alone is too common."""
    words = words_of(text.partition("@")[0])
    whole = all(len(word) > 1 for word in words) or "@" not in text
    return " ".join(words) if len(words) > 1 and whole else None


def words_of(text: str) -> list[str]:
    """The words of a name, or of the part of an address before the sign."""
    return [word for word in re.split(r"[\W\d_]+", text) if word]


def bare(text: str) -> str:
    """Without case, accents, digits and what stands between words."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return plain.casefold() if "@" in text else " ".join(words_of(plain)).casefold() or plain.casefold()


def _database_password(url: str) -> str:
    try:
        return unquote(urlsplit(url).password or "")
    except ValueError:
        return ""
