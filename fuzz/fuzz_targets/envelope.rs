//! Any bytes as a JSON-RPC message: it is an object, another value, or no JSON, as the parser says, and its members are
//! those that the parser finds.
#![no_main]

use annai_server::envelope::{Json, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|input: &[u8]| {
    // Texts that are nested too deeply, or have numbers that are too large, are JSON without being a value.
    let value = serde_json::from_slice::<Value>(input);
    let is_json = serde_json::from_slice::<&RawValue>(input).is_ok();
    let parsed = parse(input);
    assert!(is_json || parsed.is_err(), "{parsed:?} is not JSON");
    match parsed {
        Ok(Json::Object(message)) => {
            for (name, member) in [
                ("jsonrpc", &message.jsonrpc),
                ("id", &message.id),
                ("method", &message.method),
                ("params", &message.params),
                ("result", &message.result),
                ("error", &message.error),
            ] {
                let member = member.as_ref().map(|raw| serde_json::from_str::<Value>(raw.get()).ok());
                if let Ok(value) = &value {
                    assert_eq!(member, value.get(name).cloned().map(Some), "{name}");
                }
            }
        }
        Ok(Json::Batch) => assert!(value.map_or(true, |value| value.is_array())),
        // An object is another value only where a member occurs twice.
        Ok(Json::Other) => assert!(!value.is_ok_and(|value| value.is_array())),
        Err(_) => assert!(value.is_err()),
    }
});
