"""For agents: commands of the command line as tools of a Model Context Protocol server over standard input and output.

    server   the tools, and the bounds of their answers
    asking   runs each command in a process of its own, with bounded time and output
    hiding   takes out names and secrets; a name has the same stand-in in every answer of a session

`forensics mcp` starts it; the package `mcp` is needed (the extra `mcp`, docs/install.md).
"""
