"""From a function to the function that computes its gradient: all passes, text, loading, and what is compiled once."""
