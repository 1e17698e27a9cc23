"""One test for each public report that a launch has to cure, named by it: what people had, and the same without it."""
