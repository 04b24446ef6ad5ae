"""Comparison of a model's opinion of a study's pairs with the grades of people.

Numbers in, numbers out. `self_preference`: runs that gain under its grades more than its own errors explain.
`label_quality`: agreement with people and with itself, the alternative annotator test, which says if it may replace one
of them, and one sentence that sums up all of that.

An opinion is a mapping from (query_id, doc_id) to its grade. A pair without a readable answer is not in it.
"""
