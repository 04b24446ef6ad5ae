"""Who judges what, in which order: drawing the plan, handing it on when people change, and proving that it is sound."""
