"""Partial evaluation: functions, objects and containers of them that are known before the run are expanded at their uses."""
