"""Has a program forked from the process at the socket that is the first argument, and ends as it ends."""

import json
import os
import signal
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(sys.argv[1])
folder = os.getcwd()  # noqa: PTH109 - importing pathlib takes long
request = {"arguments": sys.argv[2:], "folder": folder, "environment": dict(os.environ)}
socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
os.closerange(0, 3)  # They are the program's, and end with it.
code = int(connection.recv(16) or -signal.SIGKILL)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
