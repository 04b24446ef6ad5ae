"""Label Studio: the gateway to a server, tasks out, annotations in, and a server on this machine.

Uses `base`, `formats` and `store`. Begin with `gateway`; `screens` and `tasks` make what assessors see.
"""
