"""What every room uses: the records, the errors, the settings, the statistics, and how text is written.

Uses no other room. Begin with `records`: what a paper, a pool, a judgement and a grade are.
"""
