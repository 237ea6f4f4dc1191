"""What the runtimes of R, Octave, Node, Java and Erlang printed when an error ended a program, each captured from a run.

Octave 7, R 4.2, Node 20, OpenJDK 17, Erlang/OTP 25. Julia's is put together from the forms in its sources.
"""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
R_CONTRASTS = r"""\
iteration 1
iteration 2
iteration 3
iteration 4
iteration 5
Error in `contrasts<-`(`*tmp*`, value = contr.funs[1 + isOF[nn]]) :
  contrasts can be applied only to factors with 2 or more levels
Calls: fit ... model.matrix -> model.matrix.default -> contrasts<-
In addition: Warning message:
In fit(data.frame(y = 1:4, g = factor(rep("a", 4)))) : few samples
Execution halted
"""
R_MISSING = r"""\
chunk 1 of 5
chunk 2 of 5
chunk 3 of 5
chunk 4 of 5
chunk 5 of 5
Error in file(file, "rt") : cannot open the connection
Calls: main -> load_table -> read.csv -> read.table -> file
In addition: Warning message:
In file(file, "rt") :
  cannot open file 'inputs/samples.csv': No such file or directory
Execution halted
"""
OCTAVE = r"""\
start
error: load: unable to find file none.mat
error: called from
    b at line 1 column 16
"""
NODE = r"""\
start
node:internal/fs/promises:637
  return new FileHandle(await PromisePrototypeThen(
                        ^

Error: ENOENT: no such file or directory, open '/data/none.bin'
    at async open (node:internal/fs/promises:637:25)
    at async Object.readFile (node:internal/fs/promises:1249:14)
    at async /srv/c.js:1:59 {
  errno: -2,
  code: 'ENOENT',
  syscall: 'open',
  path: '/data/none.bin'
}

Node.js v20.20.2
"""
NODE_LISTENS = r"""\
start
node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRNOTAVAIL: address not available 203.0.113.9:1
    at Server.setupListenHandle [as _listen2] (node:net:1886:21)
    at listenInCluster (node:net:1965:12)
    at doListen (node:net:2139:7)
    at process.processTicksAndRejections (node:internal/process/task_queues:83:21)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1944:8)
    at process.processTicksAndRejections (node:internal/process/task_queues:82:21) {
  code: 'EADDRNOTAVAIL',
  errno: -99,
  syscall: 'listen',
  address: '203.0.113.9',
  port: 1
}

Node.js v20.20.2
"""
JAVA = r"""\
INFO batch 0 of 5
INFO batch 1 of 5
INFO batch 2 of 5
INFO batch 3 of 5
INFO batch 4 of 5
Exception in thread "main" java.lang.RuntimeException: java.lang.IllegalArgumentException: record 17 has no key
	at A.main(A.java:10)
Caused by: java.lang.IllegalArgumentException: record 17 has no key
	... 1 more
Caused by: java.lang.NullPointerException: Cannot invoke "String.length()" because "<local1>" is null
	... 1 more
"""
JAVA_CLASS = r"""\
INFO batch 0 of 5
INFO batch 1 of 5
INFO batch 2 of 5
INFO batch 3 of 5
INFO batch 4 of 5
java.lang.ExceptionInInitializerError
	at A.cls(A.java:5)
	at A.main(A.java:9)
Caused by: java.lang.IllegalStateException: no provider for codec zstd
	at A$Loader.<clinit>(A.java:3)
	... 2 more
closing
Exception in thread "main" java.lang.NoClassDefFoundError: Could not initialize class A$Loader
	at A.cls(A.java:5)
	at A.main(A.java:9)
Caused by: java.lang.ExceptionInInitializerError: Exception java.lang.IllegalStateException: no provider for codec zstd [in thread "main"]
	at A$Loader.<clinit>(A.java:3)
	... 2 more
"""
ESCRIPT = r"""\
start
escript: exception error: no match of right hand side value {error,enoent}
  in function  erl_eval:expr/6 (erl_eval.erl, line 496)
  in call from escript:eval_exprs/5 (escript.erl, line 869)
  in call from erl_eval:local_func/8 (erl_eval.erl, line 644)
  in call from escript:interpret/4 (escript.erl, line 780)
  in call from escript:start/1 (escript.erl, line 277)
  in call from init:start_em/1
  in call from init:do_boot/3
"""
ERLANG = r"""\
starting
=CRASH REPORT==== 30-Nov-2026::13:18:16.186155 ===
  crasher:
    initial call: application_master:init/4
    pid: <0.80.0>
    registered_name: []
    exception exit: {bad_return,{{srv,start,[normal,[]]},
                                 {'EXIT',"Error reading the store"}}}
      in function  application_master:init/4 (application_master.erl, line 142)
    ancestors: [<0.79.0>]
    message_queue_len: 1
    messages: [{'EXIT',<0.81.0>,normal}]
    links: [<0.79.0>,<0.44.0>]
    dictionary: []
    trap_exit: true
    status: running
    heap_size: 376
    stack_size: 28
    reductions: 173
  neighbours:
"""
JULIA = """\
run.jl: Error During Test at /srv/run.jl:12
  Got exception outside of a @test
  GSL Error 11 (exceeded max number of iterations)
  Stacktrace:
   [1] error(::String) at ./error.jl:33
   [2] top-level scope at /srv/run.jl:14
Test Summary: | Error  Total
run.jl        |     1      1
ERROR: LoadError: Some tests did not pass: 0 passed, 0 failed, 1 errored, 0 broken.
in expression starting at /srv/run.jl:10
"""


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("log", "cause", "line"),
    [
        (R_CONTRASTS, "code.exception", "  contrasts can be applied only to factors with 2 or more levels"),
        (R_MISSING, "data.missing", "  cannot open file 'inputs/samples.csv': No such file or directory"),
        (OCTAVE, "data.missing", "error: load: unable to find file none.mat"),
        (NODE, "data.missing", "Error: ENOENT: no such file or directory, open '/data/none.bin'"),
        (NODE_LISTENS, "code.config", "Error: listen EADDRNOTAVAIL: address not available 203.0.113.9:1"),
        (JAVA, "code.exception", "Caused by: java.lang.NullPointerException: Cannot invoke"),
        (JAVA_CLASS, "code.exception", "java.lang.IllegalStateException: no provider for codec zstd"),
        (ESCRIPT, "data.missing", "escript: exception error: no match of right hand side value {error,enoent}"),
        (ERLANG, "code.exception", "{'EXIT',\"Error reading the store\"}}}"),
        (JULIA, "code.exception", "  GSL Error 11 (exceeded max number of iterations)"),
    ],
)
def test_the_error_is_told_and_not_the_end_that_follows_it(analyze: Analyze, log: str, cause: str, line: str) -> None:
    first = analyze(run_log=log).causes[0]
    assert first.id == cause and line in first.evidence[0].text


@pytest.mark.seconds
def test_a_class_that_failed_before_is_not_missing(analyze: Analyze) -> None:
    """The trace of a shutdown says that a class could not be initialised; that it failed stands in the trace above."""
    shutdown = (
        "2031-05-06 07:08:09.100  WARN 1 --- [main] c.e.Context : Exception thrown while closing\n\n"
        "java.lang.RuntimeException: close\n\tat com.example.Bean.close(Bean.java:12)\n"
        "Caused by: java.lang.NoClassDefFoundError: Could not initialize class com.example.Codec\n\t... 3 more\n"
    )
    start = JAVA_CLASS.split("closing")[0].replace(
        "java.lang.ExceptionInInit",
        "2031-05-06 07:08:08.100 ERROR 1 --- [main] c.e.Context : Start failed\n\njava.lang.ExceptionInInit",
        1,
    )
    report = analyze(run_log=start + shutdown)
    assert all(c.id != "code.import" for c in report.causes)
    assert "no provider for codec" in report.causes[0].evidence[0].text


@pytest.mark.seconds
def test_an_error_that_r_was_asked_to_survive_ends_nothing(analyze: Analyze) -> None:
    tried = "".join(f'Error in log("a") : non-numeric argument to mathematical function\nsample {i} done\n' for i in range(8))
    assert analyze(run_log=tried + "all samples done\n").verdict == "no_crash"
    ended = analyze(run_log=tried + "Error: number of clusters must be smaller than number of samples\nExecution halted\n")
    assert "number of clusters" in ended.causes[0].evidence[0].text
