"""Records in, records out: each subject, on both databases; the same content twice changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from annot.base.errors import InputError, MissingInput, StoreError
from annot.base.records import Addition, Asked, Assessor, Assignment, Draw, Judgement, Pool, PoolEntry, Query, Source
from annot.store import facet_labels, people, pools, projects, queries, runs
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels
from annot.store.judgements import SourcedJudgement, record_judgements
from annot.store.people import Plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import Session

PREDICTED = "predicted:0123abcd"
NOW = "2024-05-01T12:00:00Z"
PLAN = Plan("abc", 13, NOW)


def pool(paper_id: str, *doc_ids: str) -> Pool:
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw("cited" if turn == 1 else "abs_tfidf", turn, None if turn == 1 else 0.1 / turn, turn),
            (Draw("title_tfidf", 7, 0.333333, None), Draw("abs_cbow200", 12, -1.5, None)),
        )
        for turn, doc_id in enumerate(doc_ids, 1)
    )
    return Pool(
        paper_id=paper_id,
        mode="round-robin",
        per_method=3,
        ranking_depth=500,
        seed=2**40,
        methods=("cited", "abs_tfidf"),
        without=("specter",),
        dry=("abs_tfidf",),
        cited_outside=4,
        entries=entries,
    )


def write_pools(store: Store, *drawn: Pool, sha256: str = "r1") -> None:
    with store.begin() as session:
        pools.replace_pools(session, drawn, rankings_sha256={one.paper_id: sha256 for one in drawn})


def judge(store: Store, query_id: str, doc_id: str, assessor: str = "a1") -> None:
    with store.begin() as session:
        one = SourcedJudgement(Judgement(query_id, doc_id, assessor, 1), "label-studio", "1", {})
        record_judgements(session, [one], recorded_at=NOW)


# Facet labels


def test_facet_labels_come_back_and_twice_changes_nothing(store: Store) -> None:
    given_labels = [
        FacetLabels("p1", ("background", "method"), Source.CARRIED),
        FacetLabels("p2", ("other",), PREDICTED),
    ]
    for _ in range(2):
        with store.begin() as session:
            facet_labels.replace_labels(session, given_labels)
    with store.read() as session:
        assert sorted(facet_labels.read_labels(session)) == given_labels
        assert list(facet_labels.read_labels(session, ["p2", "p9", "p2"])) == given_labels[1:]
        assert facet_labels.count_by_origin(session) == {Source.CARRIED: 1, PREDICTED: 1}


def test_a_prediction_never_writes_over_a_correction(store: Store) -> None:
    corrected = FacetLabels("p1", ("method",), Source.CORRECTED)
    with store.begin() as session:
        given = [FacetLabels("p1", ("other",), PREDICTED), FacetLabels("p0", (), Source.CARRIED)]
        facet_labels.replace_labels(session, given)
        facet_labels.replace_labels(session, [corrected, given[1]])
    with store.begin() as session:
        facet_labels.replace_labels(
            session, [FacetLabels("p1", ("result",), PREDICTED), FacetLabels("p2", ("result",), PREDICTED)]
        )
        assert sorted(facet_labels.read_labels(session)) == [corrected, FacetLabels("p2", ("result",), PREDICTED)]
    with store.begin() as session:
        facet_labels.replace_labels(session, [])
        assert list(facet_labels.read_labels(session)) == [corrected]


@pytest.mark.parametrize(
    "wrong",
    [
        [FacetLabels("p1", ("a,b",), Source.CARRIED)],
        [FacetLabels("p1", ("",), Source.CARRIED)],
    ],
)
def test_labels_that_would_not_come_back_are_refused(store: Store, wrong: list[FacetLabels]) -> None:
    with pytest.raises(InputError, match="paper p1"), store.begin() as session:
        facet_labels.replace_labels(session, wrong)


def test_two_labels_of_one_paper_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="the database refused the change"), store.begin() as session:
        facet_labels.replace_labels(session, [FacetLabels("p1", ("method",), Source.CARRIED)] * 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1),
        st.lists(st.sampled_from(["background", "method", "other"])),
    )
)
def test_any_labels_come_back(store: Store, labels: dict[str, list[str]]) -> None:
    records = {FacetLabels(paper_id, tuple(one), Source.CARRIED) for paper_id, one in labels.items()}
    with store.begin() as session:
        facet_labels.replace_labels(session, records)
    with store.read() as session:
        assert set(facet_labels.read_labels(session)) == records


# Queries


def test_queries_come_back_by_id(study: Store) -> None:
    with study.begin() as session:
        before = queries.read_queries(session)
        assert [query.query_id for query in before] == ["p1-background", "p1-method", "p2-method"]
        queries.replace_queries(session, before)
        longer = Query("p2-method", "p2", "method", (1, 3, 4))
        queries.put_queries(session, [longer])
        queries.replace_queries(session, [longer, Query("p3-result", "p3", "result", (0,))])
        assert queries.read_queries(session) == (longer, Query("p3-result", "p3", "result", (0,)))


def test_two_queries_of_one_paper_and_facet_are_refused(store: Store) -> None:
    with pytest.raises(InputError, match="given twice"), store.begin() as session:
        queries.put_queries(session, [Query("a", "p1", "method", (0,)), Query("b", "p1", "method", (1,))])


def test_judged_queries_neither_go_nor_change(study: Store) -> None:
    judge(study, "p1-method", "d1")
    judge(study, "p1-method", "d1", "a2")
    with study.read() as session:
        before = queries.read_queries(session)
    with pytest.raises(InputError, match="2 judgements") as caught, study.begin() as session:
        queries.replace_queries(session, [query for query in before if query.query_id != "p1-method"])
    assert caught.value.faults == ("p1-method: 2 judgements",)
    with pytest.raises(InputError, match="would change"), study.begin() as session:
        queries.put_queries(session, [Query("p1-method", "p1", "method", (0,))])
    with study.read() as session:
        assert queries.read_queries(session) == before


def test_the_type_of_a_paper_is_kept_and_may_be_set_when_the_query_is_judged(study: Store) -> None:
    judge(study, "p1-method", "d1")
    plain = Query("p1-method", "p1", "method", (2,))
    for query in (replace(plain, paper_type="data-driven approach"), plain):
        with study.begin() as session:
            queries.put_queries(session, [query])
        with study.read() as session:
            types = {one.query_id: one.paper_type for one in queries.read_queries(session)}
        assert types == {"p1-background": None, "p1-method": "data-driven approach", "p2-method": None}


def test_planned_queries_do_not_go(study: Store) -> None:
    with study.begin() as session:
        people.replace_plan(session, [Assignment("p2-method", "d1", "a1", 1)], plan=PLAN)
    with pytest.raises(InputError, match="1 planned assignment"), study.begin() as session:
        queries.replace_queries(session, [])


# Pools


def test_a_pool_comes_back_as_it_was_drawn(study: Store) -> None:
    drawn = [pool("p1", "d9", "d1", "d5"), pool("p2", "d1")]
    write_pools(study, *drawn)
    with study.read() as session:
        assert pools.read_pools(session) == {"p1": drawn[0], "p2": drawn[1]}
        assert pools.read_pool(session, "p2") == drawn[1]
        assert pools.read_rankings_sha256(session) == {"p1": "r1", "p2": "r1"}
        assert pools.documents_by_query(session) == {
            "p1-background": ("d9", "d1", "d5"),
            "p1-method": ("d9", "d1", "d5"),
            "p2-method": ("d1",),
        }
        with pytest.raises(MissingInput, match="p7"):
            pools.read_pool(session, "p7")
    write_pools(study, *drawn)
    write_pools(study, drawn[0], sha256="r2")


def test_what_was_added_to_a_pool_comes_back_with_who_when_and_why(study: Store) -> None:
    first = Addition(2, "late", 13, ("d5",), None, "ada", NOW)
    second = Addition(4, "manual", None, ("d9", "naïve 𝛼"), "seen in a survey", None, None)
    drawn = [replace(pool("p1", "d1", "d5", "d9"), additions=(first, second)), pool("p2", "d1")]
    write_pools(study, *drawn)
    with study.read() as session:
        assert pools.read_pools(session) == {"p1": drawn[0], "p2": drawn[1]}
    write_pools(study, *drawn)
    with study.begin() as session:
        pools.remove_pool(session, "p1")
        assert pools.read_pools(session) == {"p2": drawn[1]}


def test_a_pool_of_an_import_may_know_little(study: Store) -> None:
    bare = Pool("p1", "blocks", None, None, None, (), (), (), None, (PoolEntry("d1", Draw("cited", None, None, None)),))
    write_pools(study, bare)
    with study.read() as session:
        assert pools.read_pool(session, "p1") == bare


def test_judged_pairs_do_not_leave_the_pool(study: Store) -> None:
    write_pools(study, pool("p1", "d1", "d2"), pool("p2", "d1"))
    judge(study, "p1-method", "d2")
    judge(study, "p1-background", "d2", "a2")
    with pytest.raises(InputError, match="2 pairs would leave the pool, with 2 judgements") as caught:
        write_pools(study, pool("p1", "d1", "d3"), pool("p2", "d1"))
    assert caught.value.faults == ("p1-background d2: 1 judgement", "p1-method d2: 1 judgement")
    with pytest.raises(InputError):
        write_pools(study, pool("p2", "d1"))
    write_pools(study, pool("p1", "d2", "d4"), pool("p2", "d5"))


def test_a_document_twice_in_a_pool_is_refused(study: Store) -> None:
    with pytest.raises(InputError, match="pool of p1"):
        write_pools(study, pool("p1", "d1", "d1"))


# People and plan


def opened(
    session: Session,
    assessor: str = "a1",
    *,
    round: projects.StoredRound = "judge",
    url: str = "http://one",
    account: int = 5,
) -> projects.Project:
    return projects.open_project(
        session, round=round, assessor=assessor, server="one", url=url, version="1.23.2", account_id=account
    )


def test_a_changed_account_forgets_the_servers_id_of_it(study: Store) -> None:
    def known() -> list[int | None]:
        return [project.account_id for project in projects.read_projects(session)]

    with study.begin() as session:
        opened(session)
        people.put_assessors(session, [Assessor("a1", "one@example.org", True)])
        assert known() == [5]
        swapped = [Assessor("a1", "two@example.org", False), Assessor("a2", "one@example.org", False)]
        people.put_assessors(session, swapped)
        assert known() == [None]
        assert people.read_assessors(session) == (*swapped, Assessor("z1", None, True))


def test_an_account_of_two_assessors_is_refused_without_naming_it(study: Store) -> None:
    with pytest.raises(InputError) as caught, study.begin() as session:
        people.put_assessors(session, [Assessor("a3", "one@example.org", False)])
    assert caught.value.faults == ("a1, a3: same account",)


def test_the_plan_comes_back_and_keeps_the_day_it_was_made(study: Store) -> None:
    planned = [
        Assignment("p1-method", "d2", "a2", 1),
        Assignment("p1-method", "d1", "a1", 10),
        Assignment("p1-method", "d2", "a1", 9),
    ]
    with study.begin() as session:
        assert people.read_plan(session) is None
        people.replace_plan(session, planned, plan=PLAN)
        people.replace_plan(session, planned, plan=PLAN._replace(created="later"))
        assert people.read_plan(session) == PLAN
        assert people.read_assignments(session) == (planned[2], planned[1], planned[0])
        assert people.read_assignments(session, "a2") == (planned[0],)
        moved = [Assignment("p1-method", "d1", "a1", 9), Assignment("p1-method", "d2", "a1", 10)]
        people.replace_plan(session, moved, plan=PLAN._replace(sha256="new"))
        assert people.read_assignments(session) == tuple(moved)
        assert people.withdraw_plan(session) == 2
        assert people.read_plan(session) is None


def test_judged_assignments_do_not_leave_the_plan(study: Store) -> None:
    planned = [Assignment("p1-method", "d1", "a1", 1), Assignment("p1-method", "d1", "a2", 1)]
    with study.begin() as session:
        people.replace_plan(session, planned, plan=PLAN)
    judge(study, "p1-method", "d1")
    with study.begin() as session:
        people.replace_plan(session, planned[:1], plan=PLAN)
    with pytest.raises(InputError, match="1 judgement"), study.begin() as session:
        people.replace_plan(session, planned[1:], plan=PLAN)
    with pytest.raises(InputError, match="1 judgement"), study.begin() as session:
        people.withdraw_plan(session)
    with study.read() as session:
        assert people.read_assignments(session) == tuple(planned[:1])


def test_a_plan_names_every_unknown_query_and_assessor(study: Store) -> None:
    with pytest.raises(InputError) as caught, study.begin() as session:
        people.replace_plan(session, [Assignment("x", "d", "a1", 1), Assignment("y", "d", "a1", 2)], plan=PLAN)
    assert caught.value.faults == ("x: no such query", "y: no such query")
    with pytest.raises(InputError, match="unknown assessor"), study.begin() as session:
        people.replace_plan(session, [Assignment("p1-method", "d", "a7", 1)], plan=PLAN)


# Projects and tasks


def test_projects_and_tasks_map_pairs_to_the_server(study: Store) -> None:
    first, second = Asked("p1-method", "d1"), Asked("p1-method", "d2")
    again = Asked("p1-method", "d1", 2)
    with study.begin() as session:
        project = opened(session)
        assert opened(session) == project
        other = opened(session, "z1", round="adjudicate")
        projects.set_remote_project(session, project.project, 40)
        assert projects.read_projects(session, round="judge") == (project._replace(remote_id=40),)
        assert projects.read_projects(session) == (other, project._replace(remote_id=40))
        tasks = {first: 1, second: 2, again: 3}
        projects.record_tasks(session, project.project, tasks)
        projects.record_tasks(session, project.project, tasks)
        swapped = {first: 2, second: 1, again: 3}
        projects.record_tasks(session, project.project, swapped)
        assert projects.read_tasks(session, project.project) == swapped
        assert projects.read_tasks(session, other.project) == {}
        projects.forget_tasks(session, project.project, [first, Asked("p1-method", "d9")])
        assert projects.read_tasks(session, project.project) == {second: 1, again: 3}


def test_a_server_at_another_address_is_the_same_server(study: Store) -> None:
    with study.begin() as session:
        project = opened(session)
        projects.set_remote_project(session, project.project, 40)
        moved = opened(session, url="http://two", account=6)
        assert moved == project._replace(url="http://two", account_id=6, remote_id=40)
        another = projects.open_project(
            session, round="judge", assessor="a1", server="two", url="http://two", version="1.24.0", account_id=6
        )
        assert another.project != project.project
        assert another.remote_id is None


def test_a_task_that_would_stand_for_two_pairs_is_refused(study: Store) -> None:
    with study.begin() as session:
        project = opened(session).project
        projects.record_tasks(session, project, {Asked("p1-method", "d1"): 1})
        with pytest.raises(InputError, match="several pairs"):
            projects.record_tasks(session, project, {Asked("p1-method", "d2"): 1})


def test_an_id_that_a_restored_server_gives_again_is_another_project(study: Store) -> None:
    asked = Asked("p1-method", "d1")
    with study.begin() as session:
        first, second = opened(session).project, opened(session, "a2").project
        for project, remote_id in ((first, 40), (second, 41)):
            projects.set_remote_project(session, project, remote_id, created="2031-01-01")
            projects.record_tasks(session, project, {asked: remote_id})
        projects.set_remote_project(session, first, 40)
        assert projects.read_tasks(session, first) == {asked: 40}
        projects.set_remote_project(session, first, 40, created="2031-02-02")
        assert projects.read_tasks(session, first) == {}
        # The first gets the number that the second had.
        projects.set_remote_project(session, first, 41, created="2031-02-03")
        assert projects.read_tasks(session, second) == {}
        found = {one.assessor: (one.remote_id, one.created) for one in projects.read_projects(session)}
        assert found == {"a1": (41, "2031-02-03"), "a2": (None, None)}


def test_tasks_are_noted_anew_with_the_numbers_that_the_server_gives_again(study: Store) -> None:
    first, second, third = (Asked("p1-method", name) for name in ("d1", "d2", "d3"))
    with study.begin() as session:
        project = opened(session).project
        projects.record_tasks(session, project, {first: 1, second: 2, third: 3})
        projects.renew_tasks(session, project, [first, second], {second: 3})
        assert projects.read_tasks(session, project) == {second: 3}


def test_another_project_on_the_server_forgets_the_tasks_of_the_old_one(study: Store) -> None:
    tasks = {Asked("p1-method", "d1"): 1}
    with study.begin() as session:
        project = opened(session).project
        projects.set_remote_project(session, project, 40)
        projects.record_tasks(session, project, tasks)
        projects.set_remote_project(session, project, 40)
        assert projects.read_tasks(session, project) == tasks
        projects.set_remote_project(session, project, 41)
        assert projects.read_tasks(session, project) == {}


# Splits, runs, imports


def test_splits_come_back_by_name_and_fold(study: Store) -> None:
    folds = {"two": ["p2-method"], "one": ["p1-method", "p1-background"], "both": ["p2-method", "p1-method"]}
    with study.begin() as session:
        runs.put_split(session, "all", folds)
        runs.put_split(session, "all", folds)
        runs.put_split(session, "method", {"one": ["p1-method"]})
        assert runs.read_splits(session)["all"] == {
            "both": ("p1-method", "p2-method"),
            "one": ("p1-background", "p1-method"),
            "two": ("p2-method",),
        }
        runs.put_split(session, "all", {"one": ["p2-method"]})
        assert runs.read_splits(session) == {"all": {"one": ("p2-method",)}, "method": {"one": ("p1-method",)}}
        with pytest.raises(InputError, match="given twice"):
            runs.put_split(session, "all", {"one": ["p2-method", "p2-method"]})
        with pytest.raises(InputError, match="unknown query"):
            runs.put_split(session, "all", {"one": ["p9-method"]})


def test_runs_and_imports_come_back(store: Store) -> None:
    first, second = runs.StoredRun("b", "bm25", {"k1": 1.5}, "h1"), runs.StoredRun("a", "tfidf", {}, "h2")
    with store.begin() as session:
        runs.put_runs(session, [first, second])
        runs.put_runs(session, [first, second._replace(sha256="h3")])
        assert runs.read_runs(session) == (second._replace(sha256="h3"), first)
        source = runs.Imported("csfcube", "h", {"papers": 3})
        for facts in ({"papers": 3}, {"papers": 4}):
            runs.put_import(session, source._replace(facts=facts))
        assert runs.read_imports(session) == (source._replace(facts={"papers": 4}),)
