"""What the kinds of the arguments decide is written into the tree.  Each pass takes the kinds of a function in normal form,
and says whether it has changed anything, so that they are to be found anew."""
