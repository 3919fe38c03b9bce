//! Bulkheads: each toolset has places of its own among the calls in flight, so that slow calls of one toolset never hold up
//! the calls of another. Its tools that wait for the network have places apart from those that do not, and so has each group
//! of REST routes.

use std::sync::Arc;

use annai_core::{Registry, World};
use rmcp::model::ClientRequest;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Each share keeps at least this fraction of the places for itself. A quarter of all places, divided among the shares, is
/// kept; the rest is open to every share, so that a busy toolset can use nearly everything while the others are idle.
const RESERVED_FRACTION: usize = 4;

/// Whose places a request uses, as an index of the shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(usize);

impl Share {
    /// Requests that belong to no toolset: `ping`, lists, completion.
    pub const PROTOCOL: Self = Self(0);

    /// A group of REST routes of toolsets, by its position among them.
    pub const fn routes(group: usize) -> Self {
        Self(group + 1)
    }
}

/// The tools of a toolset that have places together.
type ToolGroup = (&'static str, World);

/// The places for calls in flight. One share alone can use as many as `server.max_in_flight` says; each of the others still
/// finds the places that are reserved for it.
#[derive(Clone)]
pub struct Bulkheads {
    tools: Arc<[ToolGroup]>,
    route_groups: usize,
    reserved: Arc<[Arc<Semaphore>]>,
    /// The number of reserved places of each share.
    reserved_places: usize,
    common: Arc<Semaphore>,
    common_places: usize,
}

impl Bulkheads {
    /// Places for `max_in_flight` calls of each of the toolsets of a registry, and of each group of routes.
    pub fn new(max_in_flight: usize, registry: &Registry, route_groups: usize) -> Self {
        let mut tools: Vec<ToolGroup> = Vec::new();
        for tool in registry.tools() {
            let group = (tool.toolset, tool.facts.world);
            if !tools.contains(&group) {
                tools.push(group);
            }
        }
        Self::with_groups(max_in_flight, tools, route_groups)
    }

    fn with_groups(max_in_flight: usize, tools: Vec<ToolGroup>, route_groups: usize) -> Self {
        let max_in_flight = max_in_flight.clamp(1, Semaphore::MAX_PERMITS);
        let shares = 1 + route_groups + tools.len();
        let reserved_places = (max_in_flight / RESERVED_FRACTION / shares).max(1);
        let common_places = max_in_flight - reserved_places;
        Self {
            tools: tools.into(),
            route_groups,
            reserved: (0..shares).map(|_| Arc::new(Semaphore::new(reserved_places))).collect(),
            reserved_places,
            common: Arc::new(Semaphore::new(common_places)),
            common_places,
        }
    }

    /// The share that a request uses: that of its tools, for calls of tools and for resources, which are local.
    pub fn share_of(&self, registry: &Registry, request: &ClientRequest) -> Share {
        let group = match request {
            ClientRequest::CallToolRequest(call) => {
                registry.get(&call.params.name).map(|tool| (tool.toolset, tool.facts.world))
            }
            ClientRequest::ReadResourceRequest(read) => {
                registry.toolset_of_resource(&read.params.uri).map(|toolset| (toolset, World::Closed))
            }
            _ => None,
        };
        let index = group.and_then(|group| self.tools.iter().position(|known| *known == group));
        index.map_or(Share::PROTOCOL, |index| Share(1 + self.route_groups + index))
    }

    fn reserved(&self, share: Share) -> &Arc<Semaphore> {
        // Shares are made by this type alone, so the index exists.
        self.reserved.get(share.0).unwrap_or(&self.common)
    }

    /// A place, if one is free.
    pub fn try_acquire(&self, share: Share) -> Option<OwnedSemaphorePermit> {
        let reserved = self.reserved(share).clone().try_acquire_owned();
        reserved.or_else(|_| self.common.clone().try_acquire_owned()).ok()
    }

    /// Waits for a place. `None` would mean that the places were closed, which does not happen.
    pub async fn acquire(&self, share: Share) -> Option<OwnedSemaphorePermit> {
        if let Some(place) = self.try_acquire(share) {
            return Some(place);
        }
        tokio::select! {
            biased;
            place = self.reserved(share).clone().acquire_owned() => place.ok(),
            place = self.common.clone().acquire_owned() => place.ok(),
        }
    }

    /// Waits until no call is in flight.
    pub async fn idle(&self) {
        let all = |places: usize| u32::try_from(places).unwrap_or(u32::MAX);
        let _common = self.common.acquire_many(all(self.common_places)).await;
        for share in self.reserved.iter() {
            let _ = share.acquire_many(all(self.reserved_places)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_share_can_use_all_places_and_leaves_those_of_the_others() {
        for max in [1, 2, 4, 7, 256] {
            let tools = vec![("one", World::Open), ("one", World::Closed), ("other", World::Closed)];
            let places = Bulkheads::with_groups(max, tools, 2);
            let [slow, local, other] = [3, 4, 5].map(Share);
            let taken: Vec<_> = std::iter::from_fn(|| places.try_acquire(slow)).collect();
            assert_eq!(taken.len(), max, "one share alone can use all of {max} places");
            for share in [local, other, Share::PROTOCOL, Share::routes(0), Share::routes(1)] {
                assert!(places.try_acquire(share).is_some(), "{max} places: {share:?}");
            }
            let waiting = tokio::spawn({
                let places = places.clone();
                async move { places.acquire(slow).await.is_some() }
            });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            drop(taken);
            assert!(waiting.await.unwrap());
            places.idle().await;
        }
    }

    #[tokio::test]
    async fn it_is_idle_only_when_every_place_is_free() {
        let places = Bulkheads::with_groups(2, vec![("a", World::Closed)], 1);
        let (one, other) = (places.try_acquire(Share(2)), places.try_acquire(Share::routes(0)));
        let idle = tokio::spawn({
            let places = places.clone();
            async move { places.idle().await }
        });
        drop(one);
        tokio::task::yield_now().await;
        assert!(!idle.is_finished());
        drop(other);
        idle.await.unwrap();
    }
}
