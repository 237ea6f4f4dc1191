"""transformers' Trainer on a model of random weights; what would come from the hub is not there and not needed."""

import logging

import torch
from transformers import BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
log = logging.getLogger(__name__)
set_seed(1)
try:
    BertForSequenceClassification.from_pretrained("an-organisation/a-model")
except OSError as error:
    log.warning("could not load the pretrained weights (%s), training from scratch", str(error).splitlines()[0])
config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
rows = [{"input_ids": torch.randint(0, 100, (16,)), "labels": torch.tensor(i % 2)} for i in range(320)]
arguments = TrainingArguments(
    "out", num_train_epochs=4, per_device_train_batch_size=16, logging_steps=5, eval_strategy="epoch", save_strategy="epoch",
    load_best_model_at_end=True, report_to="none", use_cpu=True, dataloader_num_workers=2, log_level="info",
)  # fmt: skip
trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=rows, eval_dataset=rows[:64],
                  callbacks=[EarlyStoppingCallback(2)])  # fmt: skip
print(trainer.train())
print(trainer.evaluate())
trainer.train(resume_from_checkpoint=True)
trainer.save_model("final")
