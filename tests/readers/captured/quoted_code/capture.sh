# Captures what several programs print around the same lost key: python 3.11 (rich, loguru, ipython), python 3.13, node, bash,
# perl, gdb, rustc.
export NO_COLOR=1 COLUMNS=100 PATH=$PWD/v/bin:$PATH
for name in rich loguru cgitb warn group locals; do python -u -W default ${name}_run.py > $name.log 2>&1; done
ipython --colors=NoColor fit_run.py > ipython.log 2>&1
python3.13 lines_run.py > lines.log 2>&1
node fit.js > node.log 2>&1
bash fit.sh > bash_x.log 2>&1
perl fit.pl > perl.log 2>&1
gcc -g -O0 -o fit fit.c && gdb -batch -ex run -ex bt ./fit > gdb.log 2>&1
rustc typed.rs > rustc.log 2>&1
for log in group.log locals.log; do sed -i "s#/[^ \"]*/lib/python3.11/#/usr/lib/python3.11/#" $log; done
