"""The effect of the assessor: the ranking of all runs under each assessor's grades, the final ones, and random choices.

Voorhees 1998 and 2000, Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness: if for each
topic one assessor is chosen at random and gives the grades of all its pairs, how far does the ranking of runs move from
the one under the final grades (Kendall's tau-b), and is there a pair of runs whose order is significant under one
grading and reversed under the other? All gradings cover the same pairs: those with a final grade and a grade of an
assessor.
"""
