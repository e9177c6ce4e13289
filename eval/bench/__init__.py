"""Scripts that print ratios and figures; `eval/LOG.md` keeps the results."""
