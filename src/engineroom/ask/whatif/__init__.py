"""What if more clients came: a reader's own transactions, measured with one client and simulated with many."""
