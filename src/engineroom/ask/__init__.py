"""What a DBA asks of own servers, statements and logs."""
