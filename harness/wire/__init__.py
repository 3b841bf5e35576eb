"""What the Messages API says: blocks, messages, usage, errors, events. No I/O."""
