#include <stdlib.h>
#include <stdio.h>
int step(const char *advice, int n) { if (n) return step(advice, n - 1); abort(); }
int main() { printf("step 0 loss 0.5\n"); fflush(stdout); return step("CUDA out of memory. Tried to allocate 2.00 GiB", 2); }
