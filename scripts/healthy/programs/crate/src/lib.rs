pub fn half(x: i32) -> i32 { if x % 2 == 1 { panic!("odd: {x}") } let unused = 1; x / 2 }
#[test] fn works() { assert_eq!(half(4), 2); }
#[test] #[should_panic] fn panics_on_odd() { half(3); }
#[test] #[ignore] fn allocates_too_much() {}
#[test] fn thread_panics_and_is_joined() { assert!(std::thread::spawn(|| half(5)).join().is_err()); }
