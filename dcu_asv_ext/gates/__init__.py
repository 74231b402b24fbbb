"""Three gates that a candidate must pass together: it is right, no slower end to end, and no heavier."""
