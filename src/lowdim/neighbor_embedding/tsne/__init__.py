"""tsne."""
