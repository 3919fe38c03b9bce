//! Any bytes as a JSON-RPC message: it is an object, another value, or no JSON, as the parser says.
#![no_main]

use annai_server::envelope::{Json, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let value = serde_json::from_slice::<Value>(input);
    match parse(input) {
        Ok(Json::Object(message)) => {
            let raw = |member: &Option<Box<serde_json::value::RawValue>>| {
                member.as_ref().map(|raw| raw.get().to_owned())
            };
            for member in [&message.id, &message.method, &message.params, &message.result, &message.error] {
                assert!(raw(member).is_none_or(|raw| !raw.is_empty()));
            }
        }
        Ok(Json::Batch) => assert!(!value.is_ok_and(|value| !value.is_array())),
        Ok(Json::Other) => {}
        // Texts that are nested too deeply are refused by one and skipped by the other.
        Err(_) => assert!(value.is_err()),
    }
});
