"""One thin module per framework: each starts forensics.guard() when the framework begins to train, and ends it after that.

lightning      Trainer(callbacks=[ForensicsCallback()])
transformers   Trainer(callbacks=[ForensicsCallback()])
torchrun       torchrun --logs-specs forensics train.py
ray            ray.init(runtime_env=runtime_env())
dask           client.register_plugin(ForensicsPlugin())
"""
