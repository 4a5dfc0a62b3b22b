"""Pictures of models and trajectories; nothing here is imported before it is used."""
