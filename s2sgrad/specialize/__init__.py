"""What is known before the program runs, functions, objects and containers of them, is written out where it is used."""
