fn main() { let _x: i32 = "CUDA out of memory. Tried to allocate 2.00 GiB"; }
