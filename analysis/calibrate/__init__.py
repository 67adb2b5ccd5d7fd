"""Fits the engine's constants to measured rows, with errors on sources left out."""
