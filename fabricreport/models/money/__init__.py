"""Cash flows, ownership and rent, staff."""
