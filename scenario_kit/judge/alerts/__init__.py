"""Alert histories against expectations."""
