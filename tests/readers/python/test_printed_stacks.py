"""The library or kernel module that stands highest in a printed stack, in the formats that print one."""

import pytest

from forensics import pipeline
from forensics.database import Database
from tests.conftest import text_source

GLIBC = """*** Error in `python': double free or corruption (!prev): 0x0000558b00200960 ***
======= Backtrace: =========
/lib/x86_64-linux-gnu/libc.so.6(+0x777e5)[0x7f5325727605]
/lib/x86_64-linux-gnu/libc.so.6(cfree+0x4c)[0x7f532572a4dc]
/env/lib/python3.9/site-packages/fastmath/_core.cpython-39-x86_64-linux-gnu.so(release_array+0x302e)[0x7f52eb6a21ce]
/env/bin/python(PyDict_SetItem+0x360)[0x558afe952a70]
Aborted (core dumped)
"""
FASTMATH = "fastmath/_core.cpython-39-x86_64-linux-gnu.so"
OPEN_MPI = """[gpu07:1934] *** Process received signal ***
[gpu07:1934] Signal: Segmentation fault (11)
[gpu07:1934] Signal code: Address not mapped (1)
[gpu07:1934] [ 0] /lib/x86_64-linux-gnu/libpthread.so.0(+0x11390)[0x7f13ce25a390]
[gpu07:1934] [ 1] /opt/hpc/lib/libfab.so.1(fab_send+0x3b)[0x7f13cc796603]
[gpu07:1934] *** End of error message ***
"""
GDB = """Thread 1 "python" received signal SIGABRT, Aborted.
#0  0x00007ffff7c2b9fc in pthread_kill () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007ffff7bd7476 in raise () from /lib/x86_64-linux-gnu/libc.so.6
#2  0x00007fffe1b2a4c1 in fit_rows (n=12) from /env/lib/libfastmath.so.2
free(): invalid pointer
Aborted (core dumped)
"""
KERNEL = """[ 5000.000001] INFO: task python3:4711 blocked for more than 120 seconds.
[ 5000.000002]       Not tainted 6.1.0-18-amd64 #1
[ 5000.000003] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
[ 5000.000004] task:python3         state:D stack:    0 pid: 4711 ppid:     1 flags:0x00000002
[ 5000.000005] Call Trace:
[ 5000.000006]  <TASK>
[ 5000.000007]  __schedule+0x351/0xa20
[ 5000.000008]  ? old_entry+0x12/0x30 [wrong_one]
[ 5000.000009]  rpc_wait_bit_killable+0x1e/0x90 [sunrpc]
[ 5000.000010]  nfs4_do_open+0x2a5/0x7c0 [nfsv4]
"""
HOTSPOT = """#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x0000000000000003, pid=4711, tid=4720
#
# Problematic frame:
# C  0x0000000000000003
#
Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
C  0x0000000000000003
C  [ld-musl-x86_64.so.1+0x65c64]  dlopen+0x738
V  [libjvm.so+0xacbefc]  os::Linux::dlopen_helper(char const*, char*, int)+0x28
C  [libjava.so+0xf794]  Java_java_lang_ClassLoader_00024NativeLibrary_load0+0x154
"""
JNI = HOTSPOT + "C  [libtable.so+0x2f10]  TableEnv::row(_jobject*) const+0x94\n"
JAVA = """
Java frames: (J=compiled Java code, j=interpreted, Vv=VM code)
j  java.lang.ClassLoader$NativeLibrary.load()Z+56 java.base@11.0.16
J 7327 c2 org.fit.table.Native.open(Lorg/fit/table/Path;)V (238 bytes) @ 0x00007fa860ac0198
"""


@pytest.mark.parametrize(
    ("log", "cause", "where"),
    [
        (GLIBC, "process.abort", {"stack_library": FASTMATH, "stack_function": "release_array"}),
        (OPEN_MPI, "process.segfault", {"stack_library": "libfab.so.1", "stack_function": "fab_send"}),
        (GDB, "process.abort", {"stack_library": "libfastmath.so.2", "stack_function": "fit_rows"}),
        (JNI + JAVA, "process.segfault", {"stack_library": "libtable.so", "stack_function": "TableEnv::row"}),
        (HOTSPOT + JAVA, "process.segfault", {"stack_library": "org.fit.table.Native", "stack_function": "open"}),
        (KERNEL, "host_os.lockup", {"stack_module": "sunrpc", "stack_function": "rpc_wait_bit_killable"}),
    ],
)
def test_the_highest_frame_that_may_be_at_fault_is_told(log: str, cause: str, where: dict[str, str], knowledge: Database) -> None:
    first = pipeline.analyze([text_source("dmesg.txt" if "Call Trace" in log else "job.log", log)], "case", knowledge).causes[0]
    assert first.id == cause
    assert {n: v for n, v in first.facts.items() if n.startswith("stack_")} == where
    assert where.get("stack_library", where.get("stack_module", "")) in first.summary


def test_a_stack_far_from_the_message_is_not_its_own(knowledge: Database) -> None:
    far = GDB.replace("free(): invalid pointer\n", "step 1\n" * 200 + "free(): invalid pointer\n")
    assert "stack_library" not in pipeline.analyze([text_source("job.log", far)], "case", knowledge).causes[0].facts
