//! The `fixture` server: what the official MCP conformance suite requires, and tools that misbehave on purpose.

fn main() {
    annai_testkit::fixture::run();
}
