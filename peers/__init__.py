"""Our figures beside named peers', both measured in one run, as a ratio."""
