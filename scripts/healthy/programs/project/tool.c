#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int unused(int x) { char y = x * 1000; return y; }
int main(int n, char **v) {
  int i, count = n > 1 ? atoi(v[1]) : -1;
  if (count < 0) { fprintf(stderr, "error: %s\n", strerror(EINVAL)); return 2; }
  for (i = 0; i < count; i++) printf("step %d of %d\n", i + 1, count);
  printf("could not open /none: %s (ignored)\n", fopen("/none", "r") ? "?" : strerror(errno));
}
