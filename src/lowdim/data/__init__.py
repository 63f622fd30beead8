"""Where rows live, and how they are read: one fold over chunks for all of them."""
