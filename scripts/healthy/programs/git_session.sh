set -x
git config --global user.name user; git config --global user.email user@node-1; git config --global init.defaultBranch main
git init -q a && cd a && seq 50 > f && git add f && git commit -m one && git branch side
sed -i 's/^7$/seven/' f && git commit -am seven && git switch side && sed -i 's/^7$/VII/' f && git commit -am VII
git rebase main; git status; git diff; sed -i '/^[<=>]/d;/^VII$/d' f; git add f; GIT_EDITOR=true git rebase --continue
git switch main; git merge side; cd ..; git clone --bare a b.git; cd b.git; git fsck --full; cd ..; git clone b.git c; cd c; seq 9 > g; git add g; git commit -m g; cd ../a
git remote add origin ../b.git; seq 3 > h; git add h; git commit -m h; cd ../c; git push; cd ../a; git push -u origin main; git pull --rebase origin main; git push -u origin main
git checkout missing; git stash pop; git gc --aggressive; git log --oneline --graph --all; git bisect start; git bisect reset; git show HEAD:none; git rev-parse HEAD
