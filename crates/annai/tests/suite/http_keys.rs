//! The keys of the services' routes are checked before a body is read.

use std::io::{BufReader, Write as _};
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, Response};
use annai_testkit::slow_clients::head;

use crate::{Home, annai};

#[test]
fn a_request_with_a_wrong_key_is_refused_without_waiting_for_its_body() {
    let home = Home::new();
    let mut command = annai(&home);
    command.args(["--http", "127.0.0.1:0"]);
    command.env("SPONSOR_API_KEY", "sponsor-key").env("GPT_ACTIONS_API_KEY", "gpt-key");
    let server = HttpServer::start(&mut command);
    for path in ["/campaigns", "/sponsored-apis", "/gpt/auth", "/gpt/services/x/run"] {
        for (headers, status) in [("authorization: Bearer invented\r\n", 403), ("", 401)] {
            // Elapsed time is tested on purpose: nothing of the body is sent, so that reading it would take seconds.
            let started = Instant::now();
            let mut stream = server.connect();
            stream.write_all(head(path, headers).as_bytes()).unwrap();
            assert_eq!(Response::read(&mut BufReader::new(stream)).unwrap().status, status, "{path}");
            assert!(started.elapsed() < Duration::from_secs(4), "{path}: {:?}", started.elapsed());
        }
    }
}
