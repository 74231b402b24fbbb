"""`dcu-asv doctor`: what is there, what can be measured, and which traps lie open. `command` is the way in."""
