"""The page on which a collection is read: its queries, and what each system makes of their pools."""
