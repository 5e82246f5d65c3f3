"""The page of ``lab open``: what happens in the worlds of a lab, drawn. It reads, and changes nothing."""
