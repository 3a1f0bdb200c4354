"""The inside of iruka.image: what is not a codec."""
