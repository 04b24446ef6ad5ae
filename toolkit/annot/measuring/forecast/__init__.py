"""How long judging will take and what it will cost: of the study that is on its way, and of a design from its pilot.

A forgotten browser tab is not work: the logarithms of an assessor's times have a middle (median) and a width (1.4826
MAD), and a time further than `fence` widths from the middle is left out of the mean. (Pulled in to the fence, as in the
winsorised mean beside it, each idle time would still count as a long one, and all the hours to come with it.)
Intervals say where the future falls, not only its mean: they carry what is uncertain in the rate so far and the chance
in what is still to come. Times of one query go together (its difficulty is theirs), so queries are the units of chance,
and topics where several queries are of one; while fewer than `MIN_FREEDOM` degrees of freedom stand behind that,
single judgements are, and the result says so. Of a design, intervals also carry that its pilot is small, and there are
none from fewer than `MIN_UNITS` papers.
The clock is an argument.
"""
