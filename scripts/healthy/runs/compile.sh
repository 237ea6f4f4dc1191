# configure-like probes that fail as they should, CMake, warnings by the compiler, tests, an install.
cmake -S project -B build --log-level=VERBOSE; cmake --build build -v -j2; (cd build && ctest -V); cmake --install build --prefix out; make -C project -f Plain.mk -k; cat build/CMakeFiles/CMakeConfigureLog.yaml build/CMakeFiles/CMakeError.log 2>/dev/null | head -700
