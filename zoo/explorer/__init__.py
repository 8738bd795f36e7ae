"""The explorer: a page in the browser to type text into and to see what a model looks at."""
