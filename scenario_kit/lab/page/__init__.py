"""The page of ``lab open``: a read-only view of a lab's worlds."""
