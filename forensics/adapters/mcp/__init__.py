"""For agents: the questions of the command line as tools of a Model Context Protocol server over standard input and output.

    server   the tools: analyze, explain, timeline, compare, series
    asking   each question is asked in a process of its own, for a bounded time; what it prints is bounded, too
    hiding   names and secrets are taken out; a name has the same stand-in in every answer of a session

`forensics mcp` starts it; the package `mcp` is needed (`pip install 'training-forensics[mcp]'`).
"""
