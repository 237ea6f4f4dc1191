"""The first remedy names the value, the object and the change that follow from a message and its statement."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics import Report, analyze

LOG = """\
Traceback (most recent call last):
  File "/home/me/fit/run.py", line 70, in <module>
    main()
  File "/home/me/fit/run.py", line 12, in main
    {code}
{library}{error}
"""
LIBRARY = '  File "/home/me/env/lib/python3.12/site-packages/{}", line 9, in call\n    raise error\n'


def first(folder: Path, code: str, error: str, library: str = "") -> str:
    (folder / "job.log").write_text(LOG.format(code=code, error=error, library=LIBRARY.format(library) if library else ""))
    told = analyze(folder).causes[0].remediations[0]
    return f"{told.action} {' '.join(told.commands)}"


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("train = data_dict['train']", "KeyError: 'train'", "Add 'train' to the file from which data_dict is read"),
        ("net.load(torch.load(path)['model'])", "KeyError: 'model'", "torch.load(path) has no key 'model'"),
        ("label = self.ids[name]", "KeyError: 'd50'", "Add 'd50' to self.ids, or take what has it out of the data"),
        ("image = results['img']", "KeyError: 'img'", "Let what fills results put 'img' into it"),
        (
            "h = cv2.imread(p).shape",
            "AttributeError: 'NoneType' object has no attribute 'shape'",
            "the path that `cv2.imread(p)`",
        ),
        ("x = cfg.net.width", "AttributeError: 'NoneType' object has no attribute 'width'", "Set net in the configuration"),
        ("x = find(p).width", "AttributeError: 'NoneType' object has no attribute 'width'", "Hand `find(p)` at"),
        ("x = float(row[3])", "ValueError: could not convert string to float: '1,299.00'", "Take the commas out"),
        ("x = float(row[3])", "ValueError: could not convert string to float: '3,14'", "with a decimal comma"),
        ("x = float(row[3])", "ValueError: could not convert string to float: ''", "Take empty and missing values out"),
        ("x = float(row[3])", "ValueError: could not convert string to float: 'price'", "Leave the heading"),
        ("x = lr / 2", "TypeError: unsupported operand type(s) for /: 'str' and 'int'", "Turn the text into a number"),
        ("w = 1 / (K - 1)", "ZeroDivisionError: division by zero", "Leave the division out"),
        ("assert len(a) == n, 'bad'", "AssertionError: bad", "until `len(a) == n` holds"),
        ("x = pair.mean()", "AttributeError: 'tuple' object has no attribute 'mean'", "part that is meant out of the tuple"),
        ("v = a[:, 1]", "IndexError: too many indices for array: array is 1-dimensional, but 2 were indexed", "more than 1 axes"),
        ("d = p - t", "ValueError: operands could not be broadcast together with shapes (32,10) (32,)", "(32,) the axis 1"),
        ("d = p - t", "ValueError: operands could not be broadcast together with shapes (9,1) (9,)", "x.squeeze(1)"),
    ],
)
def test_the_statement_tells_what_is_to_be_changed(tmp_path: Path, code: str, error: str, words: str) -> None:
    assert words in first(tmp_path, code, error)


NONE = "'NoneType' object"
EXPECTED = "not enough values to unpack (expected 3, got 2)"


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("n = args.steps * 2", "TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'", "Give --steps where"),
        ("a = opt.classes.split(',')", f"AttributeError: {NONE} has no attribute 'split'", "Give --classes where"),
        (
            "if 'a' in cfg.model.name: pass",
            "TypeError: argument of type 'NoneType' is not iterable",
            "Set model.name in the conf",
        ),
        ("d = os.environ.get('DATA').strip()", f"AttributeError: {NONE} has no attribute 'strip'", "environment variable DATA"),
        ("n = conf.get('model').get('n')", f"AttributeError: {NONE} has no attribute 'get'", "Add 'model' to conf"),
        ("x = box.find('xmin').text", f"AttributeError: {NONE} has no attribute 'text'", "files that have no xmin"),
        ("g = p.grad.norm()", f"AttributeError: {NONE} has no attribute 'norm'", "if p.grad is not None"),
        ("f = find_spec('apex').origin", f"AttributeError: {NONE} has no attribute 'origin'", "Install apex"),
        ("n = len(tok.pad_token)", "TypeError: object of type 'NoneType' has no len()", "tok.pad_token = tok.eos_token"),
        ("y = fused_norm(x)", f"TypeError: {NONE} is not callable", "package that fused_norm comes from"),
        ("net = self.model.to(dev)", f"AttributeError: {NONE} has no attribute 'to'", "Make self.model before"),
        ("a, b = line.split()", "ValueError: not enough values to unpack (expected 2, got 1)", "Pass over lines"),
        ("a, b = line.split(' ')", "ValueError: too many values to unpack (expected 2)", ".split(SEP, 1)"),
        ("h, w = img.shape", "ValueError: too many values to unpack (expected 2)", "img.shape[:2]"),
        ("u, v, k = x.shape", "ValueError: not enough values to unpack (expected 3, got 2)", "Give x the axes `u, v, k`"),
        ("for k, v in rows: pass", "ValueError: too many values to unpack (expected 2)", "rows.items()"),
        ("y, h = model(x)", "ValueError: too many values to unpack (expected 2)", "`y, h, *_ = ...`"),
        ("a, b, c = batch", f"ValueError: {EXPECTED}", "Name 2 values on the left"),
        ("a, b = score(x)", "TypeError: cannot unpack non-iterable float object", "it gives a single float"),
        ("x = batch.to(dev)", "AttributeError: 'list' object has no attribute 'to'", "torch.stack(batch)"),
        ("x = img.unsqueeze(0)", "AttributeError: 'numpy.ndarray' object has no attribute 'unsqueeze'", "torch.from_numpy(img)"),
        ("x = pic.shape", "AttributeError: 'Image' object has no attribute 'shape'", "numpy.array(pic)"),
        ("x = item.items()", "AttributeError: 'str' object has no attribute 'items'", "json.loads(item)"),
        ("y = out.loss", "AttributeError: 'dict' object has no attribute 'loss'", 'out["loss"] in place of out.loss'),
        ("y = net(x).logits", "AttributeError: 'tuple' object has no attribute 'logits'", "return_dict=True"),
        ("total.backward()", "AttributeError: 'float' object has no attribute 'backward'", "Keep the loss a tensor"),
        ("x = utils.load(a)", "AttributeError: module 'utils' has no attribute 'load'", "Let the utils that is meant"),
        ("k = d.keys()[0]", "TypeError: 'dict_keys' object is not subscriptable", "list(d.keys())[0]"),
        ("lr = args['lr']", "TypeError: 'Namespace' object is not subscriptable", "args.lr in place of"),
        ("x = loader[0]", "TypeError: 'DataLoader' object is not subscriptable", "next(iter(loader))"),
        ("n = ann['name']", "TypeError: string indices must be integers", "json.loads(ann)"),
        ("n = ann['name']", "TypeError: list indices must be integers or slices, not str", "ann[0]['name']"),
        ("x = rows[n / 2]", "TypeError: list indices must be integers or slices, not float", "rows[int(n / 2)]"),
        ("x = sys.argv[1]", "IndexError: list index out of range", "Give the program its arguments"),
        ("n = data.shape[1]", "IndexError: tuple index out of range", "Give data the axis 1"),
        ("x = sorted(glob('*.pth'))[-1]", "IndexError: list index out of range", "Correct the folder or pattern"),
        ("x = line.split(',')[3]", "IndexError: list index out of range", "lines that have no part [3]"),
        ("s = sum(losses)", "TypeError: 'float' object is not callable", "Rename the variable sum"),
        ("s = x.shape(0)", "TypeError: 'torch.Size' object is not callable", "Leave the () off x.shape"),
        ("p = root / 'a'", "TypeError: unsupported operand type(s) for /: 'str' and 'str'", "pathlib.Path(root) / 'a'"),
        (
            "if args.epochs > 3: pass",
            "TypeError: '>' not supported between instances of 'str' and 'int'",
            "Give --epochs type=int",
        ),
        ("assert os.path.exists(args.data)", "AssertionError", "Give --data a path that exists"),
        ("assert os.path.isfile(name)", "AssertionError", "where name names it"),
        ("assert width % heads == 0", "AssertionError", "Choose width as a multiple of heads"),
        ("assert args.mode in ['a', 'b']", "AssertionError", "Give args.mode one of the values in ['a', 'b']"),
        ("assert len(self.files) > 0", "AssertionError", "that self.files is filled from"),
        ("assert len(xs) == len(ys)", "AssertionError", "Bring xs and ys to one length"),
        (
            "net = UNet(depth=4, width=32)",
            "TypeError: __init__() got an unexpected keyword argument 'width'",
            "Take `width=32` out of",
        ),
        ("net = UNet(**conf)", "TypeError: __init__() got an unexpected keyword argument 'width'", 'conf.pop("width", None)'),
        (
            "ds = Rows(root)",
            "TypeError: __init__() missing 1 required positional argument: 'size'",
            "Give Rows() its argument size",
        ),
        ("s.step(a, b)", "TypeError: step() takes from 1 to 2 positional arguments but 3 were given", "Hand s.step() fewer"),
        (
            "p = os.path.join(base, 'a')",
            "TypeError: expected str, bytes or os.PathLike object, not NoneType",
            "Give base its path",
        ),
        (
            "x = x + skip",
            "RuntimeError: The size of tensor a (25) must match the size of tensor b (24) at non-singleton dimension 3",
            "Pad or crop one of x and skip",
        ),
        ("raise ValueError(f'Unknown arch {n}')", "ValueError: Unknown arch resnet51", "Give the arch a name"),
        ("own[name].copy_(p)", "KeyError: 'module.conv1.weight'", "Take the prefix module. off"),
    ],
)
def test_the_part_of_the_statement_that_the_message_is_about_is_changed(
    tmp_path: Path, code: str, error: str, words: str
) -> None:
    assert words in first(tmp_path, code, error)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [  # a sibling whose words are alike and whose change is another one
        ("h = cv2.imread(p).shape", f"AttributeError: {NONE} has no attribute 'shape'", "Make "),
        ("def f(x: int | None): pass", "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'", "Set int"),
        ("x = a.rows[0]", "IndexError: list index out of range", "folder or pattern"),
        ("raise ValueError('unknown error')", "ValueError: unknown error", "a name that the program knows"),
        ("sd = ckpt.eval()", "AttributeError: 'dict' object has no attribute 'eval'", '["eval"]'),
    ],
)
def test_a_sibling_message_does_not_get_it(tmp_path: Path, code: str, error: str, words: str) -> None:
    assert words not in first(tmp_path, code, error)


@pytest.mark.parametrize(
    ("error", "library", "words"),
    [
        ("ValueError: max_a (24) is larger than max_b (20)", "vllm/c.py", "Raise max_b from 20 to 24 or more"),
        ("ValueError: n_samples=5 should be >= n_clusters=8.", "sklearn/c.py", "Lower n_clusters from 8 to 5 or less"),
        ("ValueError: Number of heads (32) must be divisible by tensor parallel size (3).", "vllm/c.py", "1, 2, 4, 8, 16 or 32"),
        ("ValueError: The input size 250 must be a multiple of 32", "net/c.py", "Make it 224 or 256 in place of 250"),
        ("ValueError: num must be 1 <= num <= 4, not 5", "matplotlib/c.py", "Give num a value from 1 to 4 in place of 5"),
        ("ValueError: this requires 8 devices, but only 4 devices are available", "jax/c.py", "Ask for 4 devices in place of 8"),
        ("RuntimeError: cubin version (0.6.3) does not match infer version (0.5.0).", "infer/c.py", "they are 0.6.3 and 0.5.0"),
        (
            "ValueError: You requested gpu: [1]\n But your machine only has: [0]",
            "lightning/c.py",
            "Ask for gpu [0] in place of [1]",
        ),
        ("ValueError: classes (10) in Head does not match the number of names (8)", "mmdet/c.py", "Bring classes (10)"),
        ("ValueError: X has 10 features, but Model is expecting 12 features", "sklearn/c.py", "Give it 12 features"),
        ("JSONDecodeError: Unterminated string starting at: line 1 column 388988661 (char 388988660)", "json/c.py", "it was cut"),
        ("RuntimeError: Expected target size [8, 50257], got [8, 512]", "torch/c.py", "Put the axis of the classes second"),
        ("RuntimeError: batch1 must be a 3D tensor", "torch/c.py", "Give batch1"),
        ("StopIteration: Caught StopIteration in replica 0 on device 0.", "torch/c.py", "Take the device from the input"),
    ],
)
def test_the_amounts_of_a_message_are_told_as_a_change(tmp_path: Path, error: str, library: str, words: str) -> None:
    assert words in first(tmp_path, "out = run(x)", error, library)


def test_a_condition_for_a_way_out_is_told_with_it(tmp_path: Path) -> None:
    error = "RuntimeError: lockfile exists. If you are sure that nothing else writes there, delete the lockfile and start anew."
    assert '"If you are sure that nothing else writes there, delete' in first(tmp_path, "out = run(x)", error, "cache/c.py")


@pytest.mark.parametrize(("host", "port"), [("localhost", 5000), ("10.0.0.7", 8080)])
def test_a_refused_connection_names_the_server_to_start(tmp_path: Path, host: str, port: int) -> None:
    error = (
        f"requests.exceptions.ConnectionError: HTTPConnectionPool(host='{host}', port={port}): Max retries exceeded with url: /x "
        "(Caused by NewConnectionError('<c>: Failed to establish a new connection: [Errno 111] Connection refused'))"
    )
    assert f"Start the server that belongs at {host}:{port}" in first(tmp_path, "out = run(x)", error, "requests/adapters.py")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (":/opt/cuda/bin/nvcc", "Take what is too much out of the path"),
        ("~/data/train.csv", "Let the program expand ~/data/train.csv"),
        ("None/train.json", "one of its parts is None"),
        ("/data/None_of_these.csv", "Give the program"),
        ("/data/train.csv", "Give the program"),
    ],
)
def test_a_path_that_shows_its_own_fault_is_told_so(tmp_path: Path, path: str, words: str) -> None:
    assert words in first(tmp_path, "f = open(path)", f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'")


def test_what_a_library_asserts_of_what_it_was_given_is_told(tmp_path: Path) -> None:
    frame = (
        '  File "/env/lib/python3.12/site-packages/detect/transform.py", line 9, in apply\n    assert image.shape[:2] == size\n'
    )
    assert "`assert image.shape[:2] == size` does not hold" in told(tmp_path, f"{frame}AssertionError\n")


def told(folder: Path, log: str) -> str:
    (folder / "job.log").write_text(log)
    return " ".join(r.action for r in analyze(folder).causes[0].remediations)


def test_a_message_near_evidence_without_an_exception_has_its_remedy(tmp_path: Path) -> None:
    log = "slurmstepd: error: pyxis: couldn't start container\n"
    refused = "slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory\n"
    end = "slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\n"
    assert "--no-container-entrypoint" in told(tmp_path, refused + log + end)
    assert "--no-container-entrypoint" not in told(tmp_path, log + end)


FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 80.00 MiB. GPU 0 has a total capacity of 15.92 GiB of which 0 bytes is free. Of the allocated memory 15.63 GiB is allocated by PyTorch, and 19.68 MiB is reserved by PyTorch but unallocated."
SERVER = """\
INFO 11-21 10:00:01 [core.py:69] Initializing a V1 LLM engine (v0.9) with config: model='m', quantization={}
INFO 11-21 10:00:02 [gpu_model_runner.py:1600] Starting to load model m...
Traceback (most recent call last):
  File "/env/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 185, in determine_available_memory
    self.model_runner.profile_run()
{}
"""


@pytest.mark.parametrize(("setting", "advised"), [("None", True), ("fp8", False)])
def test_quantised_weights_are_not_to_be_quantised(tmp_path: Path, setting: str, advised: bool) -> None:
    assert ("Serve a quantised" in told(tmp_path, SERVER.format(setting, FULL))) is advised
    assert "spread it over more GPUs" in told(tmp_path, SERVER.format(setting, FULL))


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (
            "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "Start Docker",
        ),
        ('Error from server (NotFound): namespaces "fit" not found', "Make namespaces fit first"),
        ("fatal: unsafe\nTo add an exception, call:\n\n\tgit config --global --add safe.directory /w", "git config --global"),
        ("fit.service: Failed with result 'exit-code'.", "Read what fit.service wrote"),
        ("job.sh: line 3: /opt/fit/run.sh: No such file or directory", "/opt/fit/run.sh"),
    ],
)
def test_words_of_any_program_give_the_first_step(tmp_path: Path, log: str, says: str) -> None:
    (tmp_path / "job.log").write_text(f"{log}\n")
    assert says in analyze(tmp_path).causes[0].remediations[0].action


def test_a_remedy_that_only_adds_its_place_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("ValueError: Found input variables with inconsistent numbers of samples: [100, 98]\n")
    assert "they have 100 and 98 samples" in analyze(tmp_path).causes[0].remediations[0].action


def test_weights_that_are_taken_for_a_model_are_given_to_one(tmp_path: Path) -> None:
    told = first(tmp_path, "model.eval()", "AttributeError: 'collections.OrderedDict' object has no attribute 'eval'")
    assert "load_state_dict" in told


def test_a_server_that_runs_out_in_a_step_leaves_more_room_beside_its_cache(tmp_path: Path) -> None:
    full = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 95.00 GiB of which 1.91 GiB is free."
    log = f"(EngineCore pid=7) ERROR 07-16 [core.py:9] {{}}\n(EngineCore pid=7) ERROR 07-16 [core.py:9] torch.OutOfMemoryError: {full}\n"
    (tmp_path / "job.log").write_text(log.format("in execute_model"))
    assert "gpu_memory_utilization" in analyze(tmp_path).causes[0].remediations[0].action
    (tmp_path / "job.log").write_text(log.format("in load_model"))
    assert "gpu_memory_utilization" not in analyze(tmp_path).causes[0].remediations[0].action


LITERAL = "Add 'lr' to `cfg = {{'bs': 8}}` at {}, or ask at "
CELL = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[2], line 2
      1 cfg = {'bs': 8}
----> 2 cfg['lr']

KeyError: 'lr'
"""


def test_a_key_is_added_where_the_given_program_writes_the_mapping_out(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text("import json\n\ncfg = {'bs': 8}\n")
    assert LITERAL.format("run.py:3") in first(tmp_path, "lr = cfg['lr']", "KeyError: 'lr'")
    (tmp_path / "run.py").write_text("import json\n\ncfg = {'bs': 8}\ncfg = json.load(open('c.json'))\n")
    assert "to the file from which cfg is read" in first(tmp_path, "lr = cfg['lr']", "KeyError: 'lr'")


def test_a_key_is_added_where_the_rows_of_a_cell_write_the_mapping_out(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(CELL)
    assert LITERAL.format("cell 2, line 1") in analyze(tmp_path).causes[0].remediations[0].action
    (tmp_path / "job.log").write_text(CELL.replace("{'bs': 8}", "load()"))
    assert "to the file from which cfg is read" in analyze(tmp_path).causes[0].remediations[0].action


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Connection timed out", "Let this node reach the server of the mount"),
        ("No route to host", "Let this node reach the server of the mount"),
        ("Connection timed out for nas:/srv/data", "Let this node reach nas"),
        ("Connection refused", "Start the file service on the server"),
        ("access denied by server while mounting nas:/srv/data", "Let nas export /srv/data"),
    ],
)
def test_a_server_that_did_not_answer_has_refused_nothing(tmp_path: Path, said: str, words: str) -> None:
    event = (
        'Warning   FailedMount   pod/train-1   MountVolume.SetUp failed for volume "d" : mount failed: exit status 32 Output: '
    )
    (tmp_path / "events.txt").write_text(f"LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n3m10s   {event}mount.nfs: {said}\n")
    told = analyze(tmp_path).causes[0].remediations
    assert told[0].action.startswith(words)
    assert any("export" in a.action for a in told) == said.startswith("access denied")


MARKED = "[ 9.1] NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', Row Remapper: New row (0x3a1) marked for remapping, reset gpu to activate.\n"
CONTAINED = "[ 9.2] NVRM: Xid (PCI:0000:3b:00): 94, pid=41822, name=python, Contained: SM (0x1). RST: No, D-RST: No\n"
VICTIM = "[ 10.2] NVRM: Xid (PCI:0000:3b:00): 43, pid=41822, name=python, channel 0x00000008\n"
ASKS = "[ 9.3] NVRM: Xid (PCI:0000:3b:00): 154, pid='<unknown>', GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n"


def test_a_contained_error_with_a_marked_row_asks_for_a_reset_of_the_idle_gpu_too(analyze: Callable[..., Report]) -> None:
    both, alone = (analyze(dmesg_txt=text) for text in (MARKED + CONTAINED + VICTIM, CONTAINED + VICTIM))
    resets = [[r for r in report.causes[0].remediations if "--gpu-reset" in " ".join(r.commands)] for report in (both, alone)]
    assert [len(found) for found in resets] == [1, 0]
    assert "as soon as no program uses it" in resets[0][0].action
    assert 'Xid 94, "Contained memory error"' in both.causes[0].summary
    assert "Xid 43: GPU stopped processing" in [f.title for f in both.causes]


def test_an_xid_that_tells_the_recovery_is_told_as_that_and_not_as_a_hang(analyze: Callable[..., Report]) -> None:
    first = analyze(dmesg_txt=ASKS).causes[0]
    assert first.title == "Xid 154: GPU Recovery Action Changed to Node Reboot Required"
    assert "no progress" not in first.summary
    assert "reboot the host, as the driver asks (Node Reboot Required)" in first.remediations[0].action


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("You cannot set both `stop_token` and `stop_token_id`.", "Leave one of stop_token and stop_token_id out"),
        ('"file_args" and "backend_args" cannot be set at the same time.', "Leave one of file_args and backend_args out"),
        ("At least one of `labels` or `shift_labels` must be provided.", "Give one of labels and shift_labels"),
        ("lora_bias=True is not supported for embeddings.", "Leave lora_bias=True out, or do without embeddings"),
        ("RMSpropTF does not support sparse gradients", "Leave RMSpropTF out, or do without sparse gradients"),
        ("`sde_net=True` is only available when using gSDE", "Use sde_net=True only when using gSDE"),
        ("PagedAdamW8bit only supports optim_bits=32", "Give PagedAdamW8bit optim_bits=32 alone"),
        ("Using `split_rows=True` requires `on_device=True`.", "Give it `on_device=True`, which split_rows=True requires"),
        ("max_epochs must be specified in default_args", "Give max_epochs, which is missing"),
        ("last_mean should not be None if last_count > 0.", "Give last_mean a value"),
        ("`num_samples` must be greater than 0.", "Change num_samples where it is given - it has to be greater than 0"),
        ("kind_name cannot be 'data'", "Change kind_name where it is given - it cannot be 'data'"),
        ("Saved model state must be a dictionary", "Change what is given as Saved model state - it has to be a dictionary"),
        ("`train_rows` is required unless a `factory` is provided.", "Give train_rows, which is missing"),
        ("No input_dir provided and naming is disabled.", "Give input_dir, which is missing"),
        ("Expected env.mode to be an Autoreset, got int", "Change env.mode where it is given - it has to be an Autoreset"),
        ("Unsupported merge method: alpha", "Give merge method a value that this release knows, in place of alpha"),
        ("Array functions require numpy >= 1.22", "Install numpy>=1.22"),
        ("Builder 'alpha' not found. Available: beta", "Correct the Builder alpha"),
    ],
)
def test_what_a_library_refuses_is_told_as_a_change(tmp_path: Path, message: str, words: str) -> None:
    told = first(tmp_path, "trainer = build(args)", f"ValueError: {message}", "somelib/check.py")
    assert words in told


@pytest.mark.parametrize("message", ["the shapes differ in a way that nobody expected", "Can't set what should be called here"])
def test_words_that_name_nothing_give_no_change(tmp_path: Path, message: str) -> None:
    assert not first(tmp_path, "trainer = build(args)", f"ValueError: {message}", "somelib/check.py").startswith(
        ("Give", "Change", "Leave")
    )
