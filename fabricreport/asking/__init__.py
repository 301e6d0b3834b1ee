"""Questions out, answers in: which questions a seller is sent, and where what comes back is filed."""
