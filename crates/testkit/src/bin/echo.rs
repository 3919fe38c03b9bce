//! The baseline of the stdio benchmark: answers every line with the contents of a file, and does nothing else.

use std::io::{BufRead, Write, stdin, stdout};

fn main() {
    let path = std::env::args_os().nth(1).expect("usage: echo FILE");
    let reply = std::fs::read(path).expect("the file can be read");
    let mut input = stdin().lock();
    let mut output = stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).expect("stdin can be read") > 0 {
        output.write_all(&reply).and_then(|()| output.flush()).expect("stdout can be written");
        line.clear();
    }
}
