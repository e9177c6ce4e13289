"""Files in, graph out: read, split, embed, write."""
