//! TEMPORARY: weights from the environment while they are being found.
use std::collections::HashMap;
use std::sync::LazyLock;
static W: LazyLock<HashMap<String, f32>> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "temporary")]
    let v = std::env::var("TUNE").unwrap_or_default();
    v.split(',').filter_map(|kv| { let (k, v) = kv.split_once('=')?; Some((k.to_owned(), v.parse().ok()?)) }).collect()
});
pub fn tune(name: &str, default: f32) -> f32 {
    W.get(name).copied().unwrap_or(default)
}
