"""The loop of daily work: the working tree measured beside a base, until the two can be told apart."""
