"""Solution sets along one parameter, exactly: rational functions, their roots, and the changes there."""
