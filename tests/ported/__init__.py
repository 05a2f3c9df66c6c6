"""Small programs of the kinds that libraries for derivatives have as examples, written as their users write them."""
