"""What `make` calls: the environment, the book, the tests."""
