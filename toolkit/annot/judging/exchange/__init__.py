"""What goes to Label Studio and what comes back."""
