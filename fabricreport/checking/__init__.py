"""What `check` tells: everything a build will read is read and tried first."""
