# A notebook server: files that are missing, a notebook that raises and is mended, restarts, an idle kernel culled, a shutdown.
jupyter server --no-browser --ServerApp.token=x --MappingKernelManager.cull_idle_timeout=6 --MappingKernelManager.cull_interval=3 --MappingKernelManager.cull_connected=True --ServerApp.log_level=INFO & sleep 5
python jupyter_driver.py; sleep 12; curl -s -o /dev/null "http://127.0.0.1:8888/api/contents/none.ipynb?token=x"; curl -s -o /dev/null "http://127.0.0.1:8888/api/kernels"; curl -s -X POST "http://127.0.0.1:8888/api/shutdown?token=x"; wait
