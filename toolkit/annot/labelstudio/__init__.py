"""Label Studio: the gateway, tasks out, annotations in, a local server."""
