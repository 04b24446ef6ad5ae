# SPDX-License-Identifier: 0BSD
"""Measures of a run on pools of which a sample was judged, from this folder alone (Python 3.8, numpy).

    python evaluate_sample.py RUN            the means over the queries; a query that the run does not rank counts as 0
    python evaluate_sample.py RUN -q         each query before the means
    python evaluate_sample.py RUN P@5 AP     these measures: P@k, R@k, AP; NDCG%k, NDCG@k (csfcube); nDCG, nDCG@k (trec)

sample.tsv has a line for each pair of the pools: query, document, the grade if the pair was drawn, the probability
of being drawn, the predicted probability f of each grade, and how much predictions count in each kind of measure (w).
The indicator of a grade is estimated by h = w f + (given - w f) / probability if the pair was drawn, and by
h = w f if not. Replicates of the draw, balanced by a Hadamard matrix, remove the bias of ratios and of the ideal order.
If no drawn document counts, a ratio is what f expects. Documents outside the pools count as grade 0. With -q, "-" is an
estimate that the query cannot have; it counts in the mean.
"""

import csv
import re
import sys
from pathlib import Path

import numpy as np

RELEVANT_FROM = 2
KINDS = ("P", "R", "NDCG", "AP")
SHOWN = {"csfcube": ["P@20", "R@20", "NDCG%100", "NDCG%20", "AP"], "trec": ["P@20", "R@20", "nDCG", "AP"]}


def pools_in(path):
    """By query, the columns of its pool: documents, grades (-1: not drawn), probabilities, f of each grade, weights."""
    queries = {}
    with open(path, encoding="utf-8", newline="") as lines:
        for query, doc, grade, *numbers in list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]:
            queries.setdefault(query, []).append((doc, int(grade or -1), *map(float, numbers)))
    return {query: [np.array(column) for column in zip(*rows)] for query, rows in queries.items()}


def run_in(path):
    """By query, the documents with their scores; the ranks in the file do not count."""
    run = {}
    with open(path, encoding="utf-8") as lines:
        for query, _, doc, _, score, _ in filter(None, map(str.split, lines)):
            run.setdefault(query, []).append((float(score), doc))
    return run


def ranking(scored, convention):
    """Best first; trec_eval reads scores in single precision, and puts the larger id first where they tie."""
    trec = convention == "trec"
    docs = sorted(scored, key=lambda one: one[1], reverse=trec)
    with np.errstate(over="ignore"):
        return [doc for _, doc in sorted(docs, key=lambda one: -(np.float32(one[0]) if trec else one[0]))]


class Pool:
    """What is known of one pool. Indicators have shape (documents, grades from 1): a grade or a higher one."""

    def __init__(self, docs, grades, pi, *numbers):
        f, self.weights = numbers[: -len(KINDS)], {kind: column[0] for kind, column in zip(KINDS, numbers[-len(KINDS) :])}
        self.at, self.pi, self.drawn = {doc: place for place, doc in enumerate(docs)}, pi[:, None], grades >= 0
        self.found = (grades[:, None] >= np.arange(1, len(f))).astype(float)
        self.f = np.cumsum(np.array(f[:0:-1]), axis=0)[::-1].T
        self.guessed = (self.f * (self.pi < 1)).any()
        self.certain, moving, signs = (pi >= 1).all(), np.flatnonzero(self.drawn & (pi < 1)), np.ones((1, 1))
        while len(signs) <= len(moving):
            signs = np.block([[signs, signs], [signs, -signs]])
        self.directions = np.zeros((2 * len(signs), len(docs), 1))
        self.directions[:, moving, 0] = np.concatenate([signs, -signs])[:, 1 : len(moving) + 1]

    def at_least(self, weight):
        """The estimates, then their replicates: shape (1 + B, documents, grades from 1)."""
        off = np.where(self.drawn[:, None], self.found - weight * self.f, 0)
        estimate = np.where(self.pi >= 1, self.found, weight * self.f + off / self.pi)[None]
        return np.concatenate([estimate, estimate + self.directions * np.sqrt(1 - self.pi) / self.pi * off])

    def filled_in(self, least):
        """The grades that are known, and f for the others, which have `least` in one document at most."""
        f = np.where(self.drawn[:, None], 0, self.f)
        return (np.where(self.drawn[:, None], self.found, 0) + f / max(1.0, f[:, least - 1].sum()))[None]


def gained(counts, discounts):
    """The DCG of the best order: counts of documents with each grade or a higher one, in the last axis."""
    sums = np.concatenate([[0.0], discounts.cumsum()])
    return (np.interp(counts, np.arange(len(sums)), sums) + np.minimum(counts, 0) * discounts[0]).sum(axis=-1)


def parts(at_least, ranks, at, members, cuts, convention, kind, k):
    """What the measure divides, and by what, of each estimate in the first axis."""
    hits = at_least[:, :, RELEVANT_FROM - 1]
    if kind in ("P", "R"):
        return hits[:, at[ranks <= k]].sum(axis=1), hits[:, members].sum(axis=1)
    if kind == "AP":
        mine = hits[:, at]
        return (mine / ranks * (1 + mine.cumsum(axis=1) - mine)).sum(axis=1), hits[:, members].sum(axis=1)
    cut, ideal_cut = cuts
    places = np.arange(1, max(cut, ideal_cut, 1) + 1)
    discounts = 1 / (np.maximum(1, np.log2(places)) if convention == "csfcube" else np.log2(places + 1))
    top = at_least[:, at[ranks <= cut]].sum(axis=2) @ discounts[ranks[ranks <= cut] - 1]
    return top, gained(at_least[:, members].sum(axis=1), discounts[: max(ideal_cut, 1)] * (ideal_cut > 0))


def share(part, rest):
    return part / (part + rest) if part + rest > 0 else 0.0


def measure(pool, docs, convention, name):
    """The estimate, and whether the query may have it."""
    if not re.fullmatch(r"[PR]@[1-9]\d*|AP|NDCG[@%][1-9]\d*|nDCG(@[1-9]\d*)?", name):
        sys.exit(f"{name}: expected P@k, R@k, AP, NDCG%k, NDCG@k, nDCG or nDCG@k")
    kind, k = re.match("[A-Za-z]+", name)[0].upper(), int(re.sub(r"\D", "", name) or 0)
    ranked = [(rank, pool.at[doc]) for rank, doc in enumerate(docs, 1) if doc in pool.at]
    ranks, at = np.array(ranked, dtype=int).reshape(-1, 2).T
    members = at if convention == "csfcube" else np.arange(len(pool.at))  # whose grades make ideal and number relevant
    cut, ideal_cut = (n * k // 100 if "%" in name else min(n, k or n) for n in (len(docs), len(pool.at)))
    case = ranks, at, members, (cut, cut if convention == "csfcube" else ideal_cut), convention, kind, k
    weight = pool.weights[kind]
    top, whole = parts(pool.at_least(weight), *case)
    (found,), (least,) = parts(pool.found[None], *case)
    unknown = ~pool.drawn
    if kind == "P":
        return top[0] / k, found - 1e-9 <= top[0] <= found + unknown[at[ranks <= k]].sum() + 1e-9
    if pool.certain:
        return (top[0] / whole[0] if whole[0] > 0 else 0.0), True
    if least > 0 or not pool.guessed:
        floors = np.full(len(top), max((weight if pool.guessed else 1) * max(least, 1.0), 1e-9))
        floors[0] = max(least, 1.0)
        ratios = np.clip(top / np.maximum(whole, floors), 0, 1)
        value = np.clip(2 * ratios[0] - ratios[1:].mean(), 0, 1)
    else:
        (expected,), (number,) = parts(pool.filled_in(1 if kind == "NDCG" else RELEVANT_FROM), *case)
        value = np.clip(expected / max(number, 1.0), 0, 1)
    if kind == "R":
        ranked_unknown = unknown[at[ranks <= k]].sum()
        missed_unknown = unknown[members].sum() - ranked_unknown
        value = np.clip(value, share(found, least - found + missed_unknown), share(found + ranked_unknown, least - found))
    return value, True


def main(path, *options):
    pools, run = pools_in(Path(__file__).with_name("sample.tsv")), run_in(path)
    known = {query: Pool(*columns) for query, columns in pools.items()}
    for convention, names in SHOWN.items():
        for name in [option for option in options if option != "-q"] or names:
            if ("NDCG" in name) > (convention == "csfcube") or ("nDCG" in name) > (convention == "trec"):
                continue
            values = {}
            for query, pool in known.items():
                docs = ranking(run.get(query, []), convention)
                values[query], possible = measure(pool, docs, convention, name)
                if "-q" in options:
                    print(convention, name, query, f"{values[query]:.12f}" if possible else "-", sep="\t")
            print(convention, name, "all", f"{np.clip(sum(values.values()) / len(values), 0, 1):.12f}", sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
