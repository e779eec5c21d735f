"""A kit that travels: the loads of the book's sixteen processors, measured on a computer that has nothing of the book."""
