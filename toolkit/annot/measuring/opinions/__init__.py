"""What a model's opinion of a study's pairs is worth, compared with the grades of people.

Numbers in, numbers out. `agreeing`: how it agrees with people and with itself. `standing_in`: whether it may stand in
for one of them (the alternative annotator test). `favour`: which runs gain under its grades beyond what its own errors
explain. `worth`: all of that on one study, and one sentence that sums it up.

An opinion is a mapping from (query_id, doc_id) to its grade. A pair without a readable answer is not in it.
"""
