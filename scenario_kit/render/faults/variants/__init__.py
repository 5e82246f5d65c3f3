"""Options of any suitable fault: that it recurs, is hidden, or hits only some of the pods."""
