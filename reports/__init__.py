"""Reports: functions from the frames of a comparison to pages and figures. They neither solve nor model."""
