# A version that is not quoted: the shell takes `<4.21.3` for a file to read from.
pip install protobuf<4.21.3
python3 -c 'for n in range(60): print(f"step {n} loss {2 / (1 + n):.4f}")'
echo training finished
