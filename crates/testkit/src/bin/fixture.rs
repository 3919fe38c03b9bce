//! The `fixture` server: what the official conformance suite asks for, and tools that misbehave on purpose.

fn main() {
    annai_testkit::fixture::run();
}
