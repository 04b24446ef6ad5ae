"""Wing for the demonstration: fictional papers, assessors simulated on them, and the whole way that `annot demo` goes.

Uses every room of the core. Begin with `whole_way`.
"""

PARTS = {"commands": {"demo": "annot_demo.commands:Prepare"}}
