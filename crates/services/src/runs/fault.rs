//! Steps of a run at which a test can kill the process. Without the cargo feature `fault-points`, which no release has,
//! nothing is left of them.

/// A step of a run, right after which the process can be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// The price is reserved, the upstream not yet called.
    Reserved,
    /// The dispatch is recorded, the upstream not yet called.
    Dispatching,
    /// The upstream has answered, nothing is settled.
    Answered,
    /// The run is settled or released, the caller not yet told.
    Finished,
}

impl FaultPoint {
    /// All steps in their order.
    pub const ALL: [Self; 4] = [Self::Reserved, Self::Dispatching, Self::Answered, Self::Finished];
}

/// Kills the process as `kill -9` does, without any clean-up, if this is the chosen step.
#[cfg(feature = "fault-points")]
pub fn pass(point: FaultPoint, chosen: Option<FaultPoint>) {
    if chosen == Some(point) {
        std::process::abort();
    }
}

/// Does nothing.
#[cfg(not(feature = "fault-points"))]
pub const fn pass(_: FaultPoint, _: Option<FaultPoint>) {}
