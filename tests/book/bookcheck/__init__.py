"""What several tests read of the book: its files, its headings and links, its replays."""
