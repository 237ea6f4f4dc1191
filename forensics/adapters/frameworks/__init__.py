"""One thin module a framework: each starts forensics.guard() where the framework trains and ends it where that ends.

lightning      Trainer(callbacks=[ForensicsCallback()])
transformers   Trainer(callbacks=[ForensicsCallback()])
torchrun       torchrun --logs-specs forensics train.py
ray            ray.init(runtime_env=runtime_env())
dask           client.register_plugin(ForensicsPlugin())
"""
