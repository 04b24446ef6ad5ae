"""Estimates for a whole pool if only a sample of it was judged, and the cost of the sample.

The draw is `annot.pools.pooling`. From there to an evaluation:

    frozen = {query_id: frozen_ranks(ranks_on_record(pool), documents)}       # once, on record
    pi = probabilities(frozen, share=0.33, rule=SampleRule(...))              # stored as it is
    to_judge = drawn(pi, seed=rule.seed)
    known = {query_id: features(ranks_on_record(pool), fused, methods=..., cited=...)}
    predictions = predicted(judged, known, topics, highest=3)        # None is f = 0
    pools = pools_of(pi, judged, predictions, highest=3)
    found = estimates(runs, pools, MeasureSelection(convention, measures, relevant_from), ties=...)
    found[tag]                                                                # as `JudgedWhole.measured` gives it
    counts_of(pools[query_id]).number(2, level=0.95)                          # relevant documents of a pool

Read `grades` first (one query's pool, and how many of its documents have a grade), then `estimates` (measures of lists
of a query, and of runs).
"""
