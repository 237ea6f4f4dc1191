"""How far a run came: steps, epochs, bars."""
