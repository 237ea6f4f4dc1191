all: probe ok
probe:
	-gcc -include no_such_header.h -c project/tool.c -o /dev/null
	-test -e /nonexistent || echo "checking for nonexistent... no"; false
ok:
	gcc -fanalyzer -Wall project/tool.c -o ok -lm || gcc tool.c -o ok
	./ok 2
