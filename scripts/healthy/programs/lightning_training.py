"""Lightning runs a small model: sanity check, early stopping, checkpoints, learning-rate finder, simple profiler."""

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset


class Model(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.lr = 1e-3
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def training_step(self, batch: list[torch.Tensor], _index: int) -> torch.Tensor:
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: list[torch.Tensor], _index: int) -> None:
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), self.lr)


x = torch.randn(600, 16)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 32)
model = Model()
callbacks = [
    EarlyStopping("val_loss", patience=2, verbose=True, min_delta=0.5),
    ModelCheckpoint(monitor="val_loss", verbose=True),
]
trainer = L.Trainer(
    max_epochs=6, accelerator="cpu", callbacks=callbacks, profiler="simple", log_every_n_steps=5, enable_model_summary=True
)
trainer.fit(model, loader, loader)
L.Trainer(max_steps=20, accelerator="cpu", detect_anomaly=True, callbacks=[LearningRateMonitor()]).fit(model, loader, loader)
L.Trainer(fast_dev_run=True, accelerator="cpu").fit(model, loader, loader)
trainer.validate(model, loader)
trainer.test_ok = True
