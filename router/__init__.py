"""Query in, ranked chunks out: routers, retrieval and fusion."""
