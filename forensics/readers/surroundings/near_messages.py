"""Places that messages name in their own ways: devices by PCI address, hosts, the program that a shell saw die, paths, cells.

run.sh: line 5: 19817 Killed      python train.py       -> command train.py, pid 19817
amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!           -> pci_devices "PCI device 0000:0a:00.0"
/usr/bin/python3: No module named ipykernel_launcher    -> path /usr/bin/python3
"""

from collections.abc import Iterable, Sequence
from re import Match

from forensics.core import lazy
from forensics.model import Fields, Proof, Value
from forensics.readers.python.library_files import is_library_file, knows_own_code

Found = dict[str, Value]
MAX_TOLD_PROOFS = 3  # chosen by hand: as in near_lines
MAX_LISTED_DEVICES = 3  # chosen by hand: of several that failed alike
MAX_SENTENCE_LINES = 12  # chosen by hand: a driver's report of one fault
MAX_FAULT_LINES = 60  # chosen by hand: faulthandler prints a few threads before the current one
PCI_PATTERN = lazy.regex(r"\b(?P<pci>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?)\b")
DRIVER_PATTERN = lazy.regex(
    r"\b(?P<driver>amdgpu|radeon|nouveau|i915|xe|NVRM|nvidia-nvswitch|mlx[45]_\w+|nvme|r8\d{3}|igb|ixgbe|i40e|e1000e?|bnxt_en|tg3|ena)\b"
)
GPU_PATTERN = lazy.regex(
    r"\bNVRM: GPU(?P<a>\d{1,2})\b|\bGPU: (?P<b>\d{1,2})\b|GPU_(?P<c>\d{1,2})_bfc|(?:device:GPU|CUDA):(?P<d>\d{1,2})\b"
)
OPERATION_PATTERN = lazy.regex(r"\[\[(?:\{\{)?(?:node|Node:) (?P<operation>[\w./-]{3,200})")  # TensorFlow's
SHELL_DEATH_PATTERN = lazy.regex(
    r"(?:\A|: line \d{1,7}: |\A\[\d{1,4}\][ +-]{1,8})\s{0,4}(?P<pid>\d{2,8}) (?:Killed|Terminated|Aborted|Quit|Hangup"
    r"|[Bb]us error|[Ss]egmentation fault|[Ii]llegal (?:hardware )?instruction|[Ff]loating point exception)"
    r"\s{1,30}(?:\(core dumped\)\s{1,8})?"
    r"(?P<command>\S.{0,300})"
)
SCRIPT_PATTERN = lazy.regex(r"(?:\A|\s)(?P<script>-m [\w.]{1,100}|[\w./~-]{1,200}\.(?:py|sh|jl|R|pl))(?=\s|\Z)")
STACK_FRAME_PATTERN = lazy.regex(
    r'\A\s{0,8}(?:\S{1,40} )?File "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,7}) in '
)  # faulthandler's
STACK_PATTERN = lazy.regex(r"\ACurrent thread 0x\w{1,16}.{0,80}\(most recent call first\)")
TABLE_ROW_PATTERN = lazy.regex(r"\A\s{1,8}(?:exitcode|traceback|error_file)\s{0,8}: ")  # torchelastic's
TABLE_HOST_PATTERN = lazy.regex(r"\A\s{1,8}host\s{0,8}: (?P<host>[\w.-]{1,80})\s*\Z")
TABLE_RANK_PATTERN = lazy.regex(r"\A\s{1,8}rank\s{0,8}: (?P<rank>\d{1,6})\b")
HOST_PATTERNS = (
    lazy.regex(
        r"\A[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[A-Za-z][\w.-]{1,62}) (?:\w{1,12}\.\w{1,10} )?"
        r"[\w./-]{1,40}(?:\[\d+\])?: "
    ),
    lazy.regex(r"\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?P<host>[A-Za-z][\w.-]{1,62}) [\w.-]{1,40}\[\d{1,8}\] "),
    lazy.regex(
        r"(?:\A|[\s:>\]])(?P<host>[A-Za-z][\w.-]{1,62}):\d{2,8}:\d{2,8} \[\d{1,2}\] .{0,80}\bNCCL WARN"
        r"|(?:\A|\s)(?P<bare>[A-Za-z][\w.-]{1,62}):\d{2,8}:\d{2,8} \[\d{1,2}\] \S{1,60} WARN "
    ),
    lazy.regex(r"\A\[(?P<host>[A-Za-z][\w.-]{1,62}):\d+:\d+(?::\d+)?\] +\S{1,80}\.c:\d+ "),  # of UCX
    lazy.regex(r" ON (?P<host>[A-Za-z][\w.-]{1,62}) CANCELLED AT |\Asrun: error: (?P<bare>[A-Za-z][\w.-]{1,62}): task"),
    lazy.regex(r"\[(?P<host>i-[0-9a-f]{8,17})/"),  # an instance of Amazon's
)
DOCUMENT_HOST_PATTERN = lazy.regex(
    r"\A\s{1,8}(?:NodeList|BatchHost)=(?P<host>[A-Za-z][\w.,\[\]-]{0,62})|/instances/(?P<bare>[a-z][\w-]{0,62})\""
    r"|executed on host\(s\) <(?:\d{1,4}\*)?(?P<lsf>[\w.-]{1,62})>"
)
DOCUMENT_ROW_PATTERN = lazy.regex(r"\A\s{1,8}(?:JobId|JobState)=|\A\s{0,12}\"[@\w.]{1,60}\":|\ATERM_[A-Z]{3,20}: ")
NO_HOSTS = ("host", "localhost", "kernel", "server", "node")
PATH_PATTERNS = (
    lazy.regex(r"\[Errno \d{1,4}\] [^:\n]{3,60}: ['\"](?P<path>[^'\"\n]{2,300})['\"]"),
    lazy.regex(
        r"(?<![\w'\"])(?P<path>(?:/[\w.+@~-]{1,100}){2,20}): (?:No such file|cannot open|Permission denied|Is a directory"
        r"|Not a directory|No module named|version `)"
    ),
    lazy.regex(r"(?P<path>[A-Z]:\\[^:*?\"<>|\n]{3,200}\.exe): No module named"),
    lazy.regex(r"\b[Cc]annot read (?P<path>(?:/[\w.+@~-]{1,100}){2,30}):"),
)
ADDRESS_PATTERN = lazy.regex(r"\b(?:url|URL):? (?P<url>https?://[^\s'\"<>)]{4,200}?)[.,]?(?=[\s'\"<>)]|\Z)")
CONNECT_PATTERN = lazy.regex(r"connect to \(?\[?(?P<host>[\w.-]{2,80})\]?(?:, |:)(?P<port>\d{2,5})\b")
PEER_PATTERN = lazy.regex(r"\bfrom peer (?P<peer>[\w.:-]{3,60})<\d{2,5}>")
LISTEN_PATTERN = lazy.regex(r"(?i)\blisten|\bbind\b|in use|EADDRINUSE|already allocated")
EDITOR_LINE_PATTERN = lazy.regex(r"\A\d\d:\d\d:\d\d\.\d{3} \[(?:info|warn|error)\]")  # of Visual Studio Code's log
EDITOR_CELL_PATTERN = lazy.regex(r"\bEnd cell (?P<cell>\d{1,6}) execution @ \d")
STARTED_CELL_PATTERN = lazy.regex(r"\bexecution of cell (?P<cell>\d{1,6})\b")
STARTED_KERNEL_PATTERN = lazy.regex(r"\bStarted Kernel (?P<name>.{1,60}?) \(")
FAULT_PATTERN = lazy.regex(r"\bOops\b|\bpanic\b|\bBUG: |Unable to handle kernel|Internal error: |\bLOCKUP\b|soft lockup")
KERNEL_FUNCTION_PATTERN = lazy.regex(
    r"(?:\bRIP: [\da-f]{4}:(?:\[<[\da-f]{8,16}>\] ?)*|\bpc : )(?P<function>[A-Za-z_][\w.]{1,100})\+0x"
)
ON_CPU_PATTERN = lazy.regex(r"\b(?:CPU: \d{1,4} .{0,20}?PID|Pid): (?P<pid>\d{1,8}),? [Cc]omm: (?P<task>[^\s,]{1,15})")
BARE_DEATH_PATTERN = lazy.regex(
    r"(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)(?: \(core dumped\))?"
)
PROGRESS_PATTERNS = (
    lazy.regex(r"(?<![\d/])(?P<step>\d{1,9})/\d{1,9} \[[=>.]{5,60}\]"),  # Keras
    lazy.regex(r"\bEpoch \[(?P<epoch>\d{1,6})\]\[\d{1,9}/\d"),  # OpenMMLab
    lazy.regex(r"'epoch': (?P<epoch>\d{1,6}(?:\.\d{1,4})?)\}?"),  # Hugging Face
)


def devices(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The PCI addresses of the devices that the evidence is about; those that the same driver names next to it."""
    own = _addresses(p.text for p in proofs if p.signature == proofs[0].signature)
    driver = DRIVER_PATTERN.search(proofs[0].text)
    if not own and driver and "pci" not in facts:
        near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
        own = _addresses(text for text in near if driver["driver"] in text)
    if not own or (len(own) == 1 and "pci" in facts):
        return {}
    said = own[:MAX_LISTED_DEVICES]
    return {"pci_devices": f"PCI device {said[0]}" if len(said) == 1 else "PCI devices " + ", ".join(said)}


def _addresses(texts: Iterable[str]) -> list[str]:
    every = dict.fromkeys(m["pci"] for text in texts if DRIVER_PATTERN.search(text) for m in PCI_PATTERN.finditer(text))
    return [a for a in every if f"{a}.0" not in every]  # NVIDIA's driver leaves the function out


def gpus(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The GPU's number, if all that the evidence names is one; the operation of TensorFlow that failed."""
    found: Found = {}
    numbers = {n for p in proofs[:MAX_TOLD_PROOFS] for m in GPU_PATTERN.finditer(p.text) for n in m.groups() if n}
    if "gpu" not in facts and numbers:
        found["gpu"] = ", ".join(sorted(numbers, key=int)[:MAX_LISTED_DEVICES])
    texts = (*(p.text for p in proofs[:MAX_TOLD_PROOFS]), *lines[at : at + MAX_TOLD_PROOFS])
    operation = next(filter(None, (OPERATION_PATTERN.search(t) for t in texts)), None)
    return found | ({"tf_operation": operation["operation"]} if operation else {})


def command(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The program that a shell saw die, and its pid."""
    if "task" in facts:
        return {}
    for text in (*(p.text for p in proofs), *lines[at:]):
        died = SHELL_DEATH_PATTERN.search(text)
        script = SCRIPT_PATTERN.search(died["command"]) if died else None
        if died and script and str(facts.get("pid", died["pid"])) == died["pid"]:
            return {"pid": int(died["pid"]), "command": script["script"]}
    return {}


def crash_stack(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries in the stack that faulthandler printed; else the innermost one."""
    if knows_own_code(facts) or "fatal" not in proofs[0].text.lower():
        return {}
    start = next((i for i in range(at, min(len(lines), at + MAX_FAULT_LINES)) if STACK_PATTERN.match(lines[i])), None)
    frames = []
    for text in lines[start + 1 : start + MAX_FAULT_LINES] if start is not None else ():
        if not (frame := STACK_FRAME_PATTERN.match(text)):
            break
        frames.append(frame)
    own = next((f for f in frames if not is_library_file(f["file"])), frames[0] if frames else None)
    return {"file": own["file"], "line_no": int(own["line"])} if own else {}


def table(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host and the rank in the rows of torchelastic's table of failures."""
    if not TABLE_ROW_PATTERN.match(proofs[0].text) or "rank" in facts:
        return {}
    above = lines[max(0, at - MAX_SENTENCE_LINES // 2) : at][::-1]
    rank = next(filter(None, (TABLE_RANK_PATTERN.match(t) for t in above)), None)
    host = next(filter(None, (TABLE_HOST_PATTERN.match(t) for t in above)), None)
    known: Found = {"rank": int(rank["rank"])} if rank else {}
    return known | ({"host": host["host"]} if host and not {"host", "node"} & facts.keys() else {})


def hosts(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in a prefix or in a record that the evidence is a row of; several if lines of one kind name them."""
    if {"host", "node"} & facts.keys():
        return {}
    texts = [p.text for p in proofs if p.signature == proofs[0].signature]
    matched = (m for p in HOST_PATTERNS for m in map(p.search, texts) if m)
    if not (named := _named_hosts(matched)) and DOCUMENT_ROW_PATTERN.match(proofs[0].text):
        near = lines[max(0, at - MAX_FAULT_LINES) : at + MAX_FAULT_LINES]
        named = _named_hosts(m for m in map(DOCUMENT_HOST_PATTERN.search, near) if m)[:1]
    return {"host": ", ".join(named[:MAX_LISTED_DEVICES])} if named else {}


def _named_hosts(matched: Iterable[Match[str]]) -> list[str]:
    names = (str(m[m.lastgroup or 0]) for m in matched)
    return list(dict.fromkeys(n for n in names if n not in NO_HOSTS))


def named_file(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file or the address that an error names."""
    if {"path", "device", "asked_url"} & facts.keys() or knows_own_code(facts):
        return {}
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    path = next((m["path"] for p in PATH_PATTERNS for m in map(p.search, texts) if m), None)
    url = next((m["url"] for m in map(ADDRESS_PATTERN.search, texts) if m), None)
    return {"path": path} if path else {"asked_url": url} if url else {}


def connection(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The address that could not be reached, the peer that failed, or the port that was taken; a peer's port is no place."""
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    if reached := next(filter(None, map(CONNECT_PATTERN.search, texts)), None):
        return {"endpoint": f"{reached['host']}:{reached['port']}"}
    if peer := next(filter(None, map(PEER_PATTERN.search, texts)), None):
        return {"peer": peer["peer"]}
    return {"listening_port": facts["port"]} if "port" in facts and any(map(LISTEN_PATTERN.search, texts)) else {}


def editor_cell(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The cell and the kernel by the log of Visual Studio Code."""
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
    if "cell" in facts or not any(map(EDITOR_LINE_PATTERN.match, near)):
        return {}
    ended = next(filter(None, map(EDITOR_CELL_PATTERN.search, lines[at : at + MAX_SENTENCE_LINES])), None)
    cell = ended or next(filter(None, map(STARTED_CELL_PATTERN.search, lines[at::-1])), None)
    kernel = next(filter(None, map(STARTED_KERNEL_PATTERN.search, lines[at::-1])), None)
    found: Found = {"cell": int(cell["cell"])} if cell else {}
    return found | ({"kernel_name": kernel["name"]} if kernel else {})


def kernel_place(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the kernel's code was, and the task that ran, in its report of a fault."""
    if not FAULT_PATTERN.search(proofs[0].text) or {"task", "pid", "kernel_function"} & facts.keys():
        return {}
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_FAULT_LINES]
    function = next(filter(None, map(KERNEL_FUNCTION_PATTERN.search, near)), None)
    task = next(filter(None, map(ON_CPU_PATTERN.search, near)), None)
    found: Found = {"kernel_function": function["function"]} if function else {}
    return found | ({"running_task": f"{task['task']} (pid {task['pid']})"} if task else {})


def progress(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step or the epoch of the first line of evidence, as a bar or a trainer's row tells it."""
    if any("step" in n or "epoch" in n for n in facts):
        return {}
    texts = [proofs[0].text]
    if BARE_DEATH_PATTERN.fullmatch(proofs[0].text):  # a shell's word, right behind what the program printed last
        texts = list(lines[max(0, at - 1) : at])
    found = next((m for text in texts for m in (p.search(text) for p in PROGRESS_PATTERNS) if m), None)
    groups = found.groupdict() if found else {}
    return {"epoch": groups["epoch"]} if groups.get("epoch") else {"step_no": int(groups["step"])} if groups.get("step") else {}


MESSAGE_READERS = (
    devices,
    gpus,
    command,
    crash_stack,
    table,
    hosts,
    named_file,
    connection,
    editor_cell,
    kernel_place,
    progress,
)
