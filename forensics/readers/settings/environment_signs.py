"""What shows a fact of the environment: the text that a line contains, the pattern that it matches.

    slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0   -> ContextSign("scheduler", "slurm", ("slurmstepd", ...))

Frames of a framework's own files are sure signs. The banner of a library, which another one may import, is a weak sign.
"""

import re

from msgspec import Struct

from forensics.core import lazy


class ContextSign(Struct, frozen=True):
    """A sign of a fact: its lines contain one of `texts` and match `pattern` (None: the text is enough)."""

    fact: str
    value: str
    texts: tuple[str, ...]
    pattern: re.Pattern[str] | None = None
    weak: bool = False


ENVIRONMENT_SIGNS = (
    # frames and messages of frameworks; a banner is weak, because other frameworks import these
    ContextSign("framework", "torch", ("-packages/torch/", "undefined symbol: _ZN3c10", "undefined symbol: _ZN2at")),
    ContextSign(
        "framework",
        "torch",
        ("torch.", "[rank", "DataLoader", "torchelastic", "pytorch", "PyTorch", "DefaultCPUAllocator", "total capacity"),
        lazy.regex(
            r"\btorch\.(?:cuda\.)?OutOfMemoryError|\btorch\.distributed\b|ProcessGroup(?:NCCL|Gloo)|\btorch\.(?:Size\(|cuda\.\w)"
            r"|DataLoader worker|reserved in total by PyTorch|allocated by PyTorch|PYTORCH_CUDA_ALLOC|torchelastic"
            r"|PyTorch version|DefaultCPUAllocator|GiB total capacity; "
        ),
    ),
    ContextSign(
        "framework",
        "lightning",
        ("lightning",),
        lazy.regex(r"-packages/(?:pytorch_lightning|lightning)/|lightning\.pytorch|pytorch_lightning"),
    ),
    ContextSign(
        "framework",
        "transformers",
        ("transformers", "per device", "trainer.py"),
        lazy.regex(
            r"-packages/transformers/|Instantaneous batch size per device|\{'loss': [\d.]+, '(?:grad_norm|learning_rate)'"
        ),
    ),
    ContextSign("framework", "keras", ("-packages/keras/", "-packages\\keras\\")),
    ContextSign(
        "framework",
        "keras",
        ("/step", 'Model: "', "Trainable params:"),
        lazy.regex(r"\d+/\d+ \S*[━=>.\[\]-]{5,}.*\d+m?s/step|^\s*Model: \"\w+\"|Non-trainable params: \d"),
    ),
    ContextSign("framework", "tensorflow", ("-packages/tensorflow/python/", "tf.function", "tensorflow.python")),
    ContextSign(
        "framework",
        "tensorflow",
        ("tensorflow/core/", "tensorflow/compiler/", "tsl/", "ResourceExhaustedError", "/physical_device:"),
        lazy.regex(r"ResourceExhaustedError|/physical_device:[GC]PU:\d|Filling up shuffle buffer|tensorflow/core/kernels/data/"),
    ),
    ContextSign(
        "framework", "tensorflow", ("tensorflow/core/", "tensorflow/stream_executor", "oneDNN custom operations"), weak=True
    ),
    ContextSign(
        "framework",
        "jax",
        ("-packages/jax/", "-packages/jaxlib/", "jaxlib.xla_extension", "jax.errors", "XlaRuntimeError", "jax.Array"),
    ),
    ContextSign("framework", "sklearn", ("-packages/sklearn/",), weak=True),
    ContextSign(
        "framework", "boosting", ("[LightGBM]", "-packages/xgboost/", "-packages/lightgbm/", "-packages/catboost/"), weak=True
    ),
    ContextSign("launcher", "torchrun", ("torchelastic", "torch.distributed.run", "torch/distributed/elastic", "torchrun")),
    ContextSign("launcher", "accelerate", ("accelerate/commands/launch", "accelerate launch")),
    ContextSign("launcher", "deepspeed", ("[launch.py:", "deepspeed/launcher")),
    ContextSign("launcher", "horovod", ("horovodrun", "-packages/horovod/", "HOROVOD_")),
    ContextSign("launcher", "mpi", ("mpirun", "prterun", "MPI_ABORT", "mpiexec")),
    ContextSign("launcher", "spawn", ("multiprocessing/spawn.py", "ProcessRaisedException")),
    ContextSign("launcher", "ray", ("ray::", "(raylet)", "-packages/ray/", "ray.memory_monitor", "RayOutOfMemoryError")),
    ContextSign("launcher", "dask", ("distributed.nanny", "distributed.worker", "distributed.scheduler")),
    ContextSign("scheduler", "slurm", ("slurmstepd", "slurmd", "srun:", "sbatch:", "SLURM_", "slurmctld", "slurm_load")),
    ContextSign("scheduler", "slurm", ("*** JOB ", "*** STEP "), lazy.regex(r"\*\*\* (?:JOB|STEP) [\d._+]+ ON \S+ CANCELLED AT")),
    ContextSign(
        "scheduler", "pbs", ("PBS_JOBID", "PBS: job killed", "pbs_mom", "qsub:"), lazy.regex(r"PBS_JOBID|=>> PBS|pbs_mom|\bqsub:")
    ),
    ContextSign("scheduler", "lsf", ("TERM_MEMLIMIT", "TERM_RUNLIMIT", "LSBATCH", "LSB_")),
    ContextSign("scheduler", "sge", ("execd enforced", "SGE_", "sge_shepherd")),
    ContextSign(
        "scheduler",
        "kubernetes",
        ("kubelet", "kubectl", "kubepods", "CrashLoopBackOff", "OOMKilled", "Evicted", "Pod was ", "low on resource"),
        lazy.regex(
            r"kubelet|kubectl|kubepods|CrashLoopBackOff|^\s+Reason:\s+(?:OOMKilled|Evicted)"
            r"|\"?reason\"?: ?\"?(?:OOMKilled|Evicted)|Pod was (?:terminated|rejected|evicted)|[Nn]ode was low on resource"
        ),
    ),
    ContextSign("container", "kubernetes", ("kubepods", "CrashLoopBackOff")),
    ContextSign("container", "docker", ("docker",), lazy.regex(r"/docker/[0-9a-f]{12}|docker-[0-9a-f]{12}|docker: Error")),
    ContextSign("container", "podman", ("libpod",), lazy.regex(r"libpod[-_/][0-9a-f]{8}|\bpodman\b")),
    ContextSign(
        "container",
        "apptainer",
        ("apptainer", "singularity", "Singularity"),
        lazy.regex(r"(?i)\b(?:apptainer|singularity)(?:>|:|\b.*\.sif)"),
    ),
    ContextSign(
        "notebook",
        "jupyter",
        (
            "ServerApp]",
            "NotebookApp]",
            "ipykernel",
            "ipython-input",
            "LabApp]",
            "AsyncIOLoopKernelRestarter",
            "jupyter_client",
            "Cell In[",
        ),
    ),
    ContextSign("notebook", "jupyterhub", ("JupyterHub", "SingleUserLabApp", "jupyterhub")),
    ContextSign("notebook", "papermill", ("papermill", "nbclient", "nbconvert")),
    ContextSign(
        "notebook",
        "colab",
        ("google.colab", "/content/", "colab"),
        lazy.regex(r"google\.colab|colab-jupyter|\bcolab_|\"/content/|/content/drive"),
    ),
    ContextSign("notebook", "kaggle", ("/kaggle/",)),
    ContextSign("cloud", "colab", ("google.colab", "/content/drive", "colab-jupyter")),
    ContextSign("cloud", "colab", ("/content/",), lazy.regex(r"(?:^|[\s\"'=(])/content/\w"), weak=True),
    ContextSign(  # the table of a runtime's log, as it can be downloaded
        "cloud",
        "colab",
        ("M | WARNING | ", "M | INFO | "),
        lazy.regex(r"[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d [AP]M \| (?:WARNING|INFO) \| "),
    ),
    ContextSign("cloud", "kaggle", ("/kaggle/",)),
    ContextSign(
        "cloud", "sagemaker", ("/opt/ml/", "sagemaker"), lazy.regex(r"/opt/ml/(?:code|input|model|checkpoints)|sagemaker[-_]")
    ),
    ContextSign("cloud", "databricks", ("/databricks/", "/dbfs/")),
    ContextSign("cloud", "azureml", ("azureml", "/mnt/azureml/")),
    ContextSign(
        "device",
        "cuda",
        (
            "NVRM:",
            "CUDA out of memory",
            "CUDA error",
            "NVIDIA-SMI",
            "controller: NVIDIA Corporation",
            "cudaError",
            "Created device /job:localhost/replica:0/task:0/device:GPU",
            "GPU_0_bfc",
            "nvidia-smi",
            "CUDA_ERROR",
        ),
    ),
    ContextSign(
        "device",
        "rocm",
        ("HIP ", "amdgpu", "ROCm", "rocm", "ROCk", "hsa_init", "HSA_STATUS", "rocBLAS", "MIOpen"),
        lazy.regex(r"HIP (?:out of memory|error)|\bhsa_init\b|\bamdgpu\b|\bROC[mk]\b|hipError|HSA_STATUS_ERROR|rocBLAS|MIOpen"),
    ),
    ContextSign(
        "device", "intel", ("i915", " xe ", "GPU HANG: ecode"), lazy.regex(r"\b(?:i915|xe) 0000:|GPU HANG: ecode"), weak=True
    ),
    ContextSign("device", "mps", ("MPS backend out of memory",)),
    ContextSign("device", "tpu", ("TPU",), lazy.regex(r"libtpu|TPU (?:v\d|driver|worker)|XLA:TPU|/dev/accel\d")),
    ContextSign(
        "build",
        "cpu",
        ("not compiled with CUDA enabled", "+cpu", "tensorflow-cpu", "tensorflow_cpu", "CPU-only"),
        lazy.regex(r"not compiled with CUDA enabled|\d\+cpu\b|tensorflow[-_]cpu|jaxlib is not installed with cuda|CPU-only"),
    ),
    ContextSign("build", "cpu", ("CUDA-enabled jaxlib is not installed", "not compiled with CUDA support")),
    ContextSign("build", "without_cuda", ("not compiled with CUDA enabled", "CUDA-enabled jaxlib is not installed")),
    ContextSign(
        "loader",
        "workers",
        ("DataLoader", "data_worker", "num_workers", "_utils/worker.py", "loader worker", "_try_get_data"),
        lazy.regex(
            r"DataLoader worker|pt_data_worker|num_workers['\"]?\s*[:=]\s*[1-9]|_MultiProcessingDataLoaderIter|_utils/worker\.py"
            r"|loader worker|\b_try_get_data \("
        ),
    ),
    ContextSign(
        "ranks",
        "several",
        ("rank", "Rank", "NCCL", "ProcessGroup", "torchelastic", "MPI_ABORT", "mpirun", "mpiexec", "world"),
        lazy.regex(
            r"\[rank[1-9]|\b[Rr]ank[ =:_-]{0,3}[1-9]|local_rank: [1-9]|world_?size[=: ]+(?:[2-9]|\d\d)|NCCL (?:INFO|WARN)"
            r"|ProcessGroup(?:NCCL|Gloo)|MPI_ABORT|mpirun|mpiexec|torchelastic|nranks (?:[2-9]|\d\d)"
        ),
    ),
    ContextSign(
        "machine",
        "server",
        ("PowerEdge", "ProLiant", "Supermicro", "ThinkSystem", "ipmi", "IPMI", "iDRAC", "DGX", "NVSwitch", "SXM", "slurmd"),
        lazy.regex(
            r"\b(?:PowerEdge|ProLiant|Supermicro|ThinkSystem|ipmi(?:_\w+)?|IPMI|iDRAC|DGX|NVSwitch|SXM\d?|slurmd|slurmstepd)\b"
        ),
    ),
    ContextSign(
        "work",
        "training",
        ("poch", "oss", "train", "Train", "checkpoint", "ckpt", "step", "iter"),
        lazy.regex(
            r"\b[Ee]pochs?\b ?[\d:=\[/(]|\b[Ll]oss['\"]? ?[=:]|train\w*\.(?:py|ipynb|sh)\b|\b[Tt]rainer\b"
            r"|[Tt]raining (?:started|step|loop|loss|on|for|with)|\bcheckpoints?\b|\bckpt\b|\b(?:step|iter)s?[ =:]{1,2}\d"
        ),
    ),
    ContextSign(
        "work",
        "serving",
        ("EngineCore", "vllm/", "sglang/srt", "llama_", "text_generation_launcher", "tritonserver"),
        lazy.regex(
            r"\bEngineCore|-packages/vllm/|sglang/srt/|\bllama_(?:model_load|kv_cache|init_from_model)|text_generation_launcher|\btritonserver"
        ),
    ),
    ContextSign("language", "python", ("Traceback (most recent", "python", "Python", "ipykernel", "-packages/")),
    ContextSign(
        "language",
        "javascript",
        ("node:internal", "node_modules", "npm ", "yarn ", "at Object.<anonymous>"),
        lazy.regex(
            r"node:internal/|[/\\]node_modules[/\\]|\bnpm (?:ERR!|error|WARN|warn|verb|info)|\bverbose stack\b"
            r"|^yarn (?:run|install) v"
        ),
        weak=True,
    ),
    ContextSign(
        "language",
        "julia",
        (".jl:", "jl_parse_eval", "LoadError:"),
        lazy.regex(r"\.jl:\d+\b|\bjl_parse_eval|ERROR: LoadError:"),
        weak=True,
    ),
    ContextSign(
        "language",
        "java",
        (".java:", "java.lang.", "org.apache.", "org.gradle", "BUILD FAILURE", "JRE version", "Java VM"),
        lazy.regex(
            r"\(\w+\.java:\d+\)|\bjava\.(?:lang|util|io)\.\w+(?:Exception|Error)|org\.gradle|Failed to execute goal"
            r"|# (?:JRE version|Java VM)"
        ),
        weak=True,
    ),
    ContextSign(
        "language",
        "c",
        ("make", "error: ", "CMake Error", "collect2:", "ninja:"),
        lazy.regex(
            r"\bg?make(?:\[\d+\])?: \*\*\*|\.(?:c|cc|cpp|cxx|h|hpp):\d+(?::\d+)?: (?:fatal )?error"
            r"|CMake Error|collect2:|ninja: build"
        ),
        weak=True,
    ),
    ContextSign(
        "system",
        "android",
        ("androidboot", "binder: ", "android.", "mtk_", "MediaTek"),
        lazy.regex(r"androidboot\.|\bMediaTek\b|\bbinder: \d+:\d+|\bandroid\.(?:hardwar|sys)|\bmtk_\w+"),
        weak=True,
    ),
    ContextSign(
        "system",
        "ubuntu",
        ("Ubuntu", "ubuntu"),
        lazy.regex(r"Linux version .*[Uu]buntu|\bUbuntu \d\d\.\d\d|PRETTY_NAME=\"Ubuntu"),
    ),
    ContextSign("system", "debian", ("ebian",), lazy.regex(r"Linux version .*[Dd]ebian|Debian GNU/Linux")),
    ContextSign(
        "system",
        "redhat",
        (".el7", ".el8", ".el9", ".el10", "Red Hat", "CentOS", "Rocky", ".fc"),
        lazy.regex(r"Linux version \S*\.(?:el\d|fc\d)|Tainted: \S.*\.el\d|Red Hat Enterprise|CentOS Linux|Rocky Linux"),
    ),
    ContextSign(
        "system",
        "windows",
        ("C:\\", "D:\\", "[WinError", "AppData\\", "not supported in Windows or MacOs"),
        lazy.regex(r"[CD]:\\\w|\[WinError \d+\]|AppData\\|not supported in Windows or MacOs"),
    ),
    ContextSign("system", "wsl", ("microsoft-standard-WSL",)),
    ContextSign(
        "system",
        "macos",
        ("/Users/", "/opt/homebrew/", "Darwin", "Caskroom", "~/Library/", " _sigtramp", "Windows or MacOs", "panic(cpu "),
        lazy.regex(
            r"(?<![\w/])/Users/\w+|/opt/homebrew/|/Caskroom/|\bDarwin\b|^\s*@\s+0x[0-9a-f]+ _sigtramp|panic\(cpu \d+ caller"
            r"|not supported in Windows or MacOs|~/Library/\w"
        ),
    ),
)
