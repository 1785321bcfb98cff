"""What backends share when they write text; knows no backend."""
