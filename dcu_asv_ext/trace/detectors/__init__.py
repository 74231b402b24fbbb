"""One module a family of findings, each with `detect(analysis)`."""
