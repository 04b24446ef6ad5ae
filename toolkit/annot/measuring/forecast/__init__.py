"""Duration and cost of judging: of the study that is under way, and of a design from its pilot.

A forgotten browser tab is not work: the logarithms of an assessor's times have a middle (median) and a width (1.4826
MAD), and a time further than `fence` widths from the middle is left out of the mean. (If it were pulled in to the
fence, as in the winsorised mean next to it, each idle time would still count as a long one, and all the hours to come
with it.) Intervals show where the future falls, not only its mean: they include the uncertainty of the rate so far and
the chance in what is still to come. Times of one query go together (they share its difficulty), so queries are the
sampling units, and topics if several queries are of one; with fewer than `MIN_FREEDOM` degrees of freedom single
judgements are the units, and the result says so. For a design, intervals also include that its pilot is small, and
there are none from fewer than `MIN_UNITS` papers. The clock is an argument.
"""
