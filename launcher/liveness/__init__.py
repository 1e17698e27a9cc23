"""Does a server work? Asked of the server itself: one token, its own counters. Not its word, a 200, but its work."""
