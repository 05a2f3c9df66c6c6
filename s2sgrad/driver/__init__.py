"""From a function to its compiled gradient: all passes, text, loading, and the cache of compiled recipes."""
