//! The fake of OpenAI's Responses API as a process, for tests in other languages: `fake_openai [--listen ADDR]` prints its
//! base URL and serves until it is killed.

use annai_testkit::openai::FakeOpenai;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let fake = match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => FakeOpenai::start(),
        (Some("--listen"), Some(address), None) => FakeOpenai::start_on(&address),
        _ => {
            eprintln!("usage: fake_openai [--listen ADDR]");
            std::process::exit(2);
        }
    };
    println!("{}", fake.base_url());
    loop {
        std::thread::park();
    }
}
