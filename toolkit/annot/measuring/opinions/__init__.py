"""Comparison of a model's opinion of a study's pairs with the grades of people.

Numbers in, numbers out. `agreement`: agreement with people and with itself, and the alternative annotator test,
which says if it may replace one of them. `self_preference`: runs that gain under its grades more than its own errors
explain. `label_quality`: all of that on one study, and one sentence that sums it up.

An opinion is a mapping from (query_id, doc_id) to its grade. A pair without a readable answer is not in it.
"""
