//! What goes out: messages as bytes, and the task that writes them in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use bytes::Bytes;
use memchr::memmem;
use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::framing::Framing;

/// So many messages are joined into one write.
const MOST_JOINED: usize = 64;
/// Writes up to this size are joined; larger ones go out by themselves.
const MOST_JOINED_BYTES: usize = 64 * 1024;

/// Where messages are put to be written.
#[derive(Clone)]
pub struct Outgoing {
    queue: mpsc::UnboundedSender<Item>,
    shared: Arc<Shared>,
}

struct Shared {
    unwritten: AtomicUsize,
    broken: AtomicBool,
    written: Notify,
    framing: AtomicU8,
    lines_only: bool,
}

struct Item {
    bytes: Vec<u8>,
    done: oneshot::Sender<io::Result<()>>,
}

impl Outgoing {
    /// Starts the task that writes to `writer`.
    pub fn start(writer: impl AsyncWrite + Unpin + Send + 'static, lines_only: bool) -> Self {
        let (queue, items) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            unwritten: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            written: Notify::new(),
            framing: AtomicU8::new(0),
            lines_only,
        });
        tokio::spawn(write_all(writer, items, shared.clone()));
        Self { queue, shared }
    }

    /// Queues a JSON text in the framing that the client last used. The receiver tells when it is written.
    pub fn push(&self, json: &[u8]) -> oneshot::Receiver<io::Result<()>> {
        let framed = self.shared.framing.load(Ordering::Relaxed) == 1 && !self.shared.lines_only;
        let mut bytes = Vec::with_capacity(json.len() + 32);
        if framed {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", json.len()).as_bytes());
            bytes.extend_from_slice(json);
        } else {
            bytes.extend_from_slice(json);
            bytes.push(b'\n');
        }
        tracing::debug!("send {} bytes={}", if framed { "framed" } else { "line" }, json.len());
        self.shared.unwritten.fetch_add(bytes.len(), Ordering::Relaxed);
        let (done, wait) = oneshot::channel();
        // A queue that is gone drops `done`, which the receiver sees.
        let _ = self.queue.send(Item { bytes, done });
        wait
    }

    /// Answers from now on in this framing.
    pub fn speak(&self, framing: Framing) {
        self.shared.framing.store(u8::from(framing == Framing::Headers), Ordering::Relaxed);
    }

    /// Bytes that wait to be written.
    pub fn unwritten(&self) -> usize {
        self.shared.unwritten.load(Ordering::Relaxed)
    }

    /// Whether the reader at the other end is gone.
    pub fn is_broken(&self) -> bool {
        self.shared.broken.load(Ordering::Relaxed)
    }

    /// Waits until something more has been written, or failed to be.
    pub async fn written(&self) {
        self.shared.written.notified().await;
    }
}

async fn write_all(
    mut writer: impl AsyncWrite + Unpin,
    mut items: mpsc::UnboundedReceiver<Item>,
    shared: Arc<Shared>,
) {
    let mut batch = Vec::with_capacity(MOST_JOINED);
    let mut joined = Vec::new();
    while items.recv_many(&mut batch, MOST_JOINED).await > 0 {
        let size: usize = batch.iter().map(|item| item.bytes.len()).sum();
        let result = match batch.as_slice() {
            [only] => write(&mut writer, &only.bytes).await,
            many if size <= MOST_JOINED_BYTES => {
                joined.clear();
                many.iter().for_each(|item| joined.extend_from_slice(&item.bytes));
                write(&mut writer, &joined).await
            }
            many => {
                let mut result = Ok(());
                for item in many {
                    if result.is_ok() {
                        result = write(&mut writer, &item.bytes).await;
                    }
                }
                result
            }
        };
        if result.is_err() {
            shared.broken.store(true, Ordering::Relaxed);
        }
        shared.unwritten.fetch_sub(size, Ordering::Relaxed);
        for item in batch.drain(..) {
            let _ = item.done.send(result.as_ref().copied().map_err(|error| error.kind().into()));
        }
        shared.written.notify_one();
    }
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

/// A message as JSON. The tool list is put in as the bytes that it was serialised to once.
pub fn encode(
    message: &ServerJsonRpcMessage,
    tools: Option<&(dyn Fn() -> Bytes + Send + Sync)>,
) -> serde_json::Result<Vec<u8>> {
    const EMPTY: &[u8] = b"\"tools\":[]";
    let json = serde_json::to_vec(message)?;
    let is_list = matches!(
        message,
        JsonRpcMessage::Response(reply)
            if matches!(&reply.result, ServerResult::ListToolsResult(list) if list.tools.is_empty())
    );
    match tools {
        // Inside a JSON string the quotes would be escaped, so the first match is the member itself.
        Some(tools) if is_list => {
            let Some(at) = memmem::find(&json, EMPTY) else { return Ok(json) };
            let (before, after) = json.split_at(at);
            let after = after.get(EMPTY.len()..).unwrap_or_default();
            Ok([before, b"\"tools\":", &tools(), after].concat())
        }
        _ => Ok(json),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ListToolsResult, RequestId};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_tool_list_is_spliced_in_whatever_the_id_says() {
        let id = RequestId::String(r#""tools":[]"#.into());
        let message = ServerJsonRpcMessage::response(
            ServerResult::ListToolsResult(ListToolsResult::with_all_items(vec![])),
            id,
        );
        let tools = Bytes::from_static(br#"[{"name":"a"}]"#);
        let reply: Value =
            serde_json::from_slice(&encode(&message, Some(&|| tools.clone())).unwrap()).unwrap();
        assert_eq!(reply["id"], r#""tools":[]"#);
        assert_eq!(reply["result"]["tools"], json!([{ "name": "a" }]));
        let reply: Value = serde_json::from_slice(&encode(&message, None).unwrap()).unwrap();
        assert_eq!(reply["result"]["tools"], json!([]));
    }
}
