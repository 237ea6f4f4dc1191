# A Rust program built and tested; one of its tests expects a panic.
cp -r crate c && cd c && CARGO_HOME=/tmp/cargo cargo build --offline -v; CARGO_HOME=/tmp/cargo RUST_BACKTRACE=1 cargo test --offline
