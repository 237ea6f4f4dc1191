# Notebooks executed by nbconvert and papermill; cells that raise are allowed to.
python make_notebooks.py; jupyter nbconvert --to notebook --execute ok.ipynb --output ok2.ipynb; jupyter nbconvert --to notebook --execute --allow-errors raises.ipynb --output r2.ipynb
jupyter nbconvert --to html ok2.ipynb; jupyter nbconvert --to script ok2.ipynb; papermill --log-output --log-level DEBUG ok.ipynb ok3.ipynb
