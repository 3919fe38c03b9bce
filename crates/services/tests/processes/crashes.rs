//! Processes that die.

use std::collections::BTreeSet;

use annai_services::runs::FaultPoint;

use crate::support::{Scene, eventually};

pub fn kill_nine() {
    let scene = Scene::new(1000);
    let mut dead = scene.start(&["hang", "30"]);
    let seen: BTreeSet<_> = dead.next("called", 30).into_iter().collect();
    assert_eq!((seen.len(), scene.reserved()), (30, 300));
    dead.kill();
    // A second process begins with runs of its own. It releases the dead ones, not at once, and never its own.
    let mut living = scene.start(&["spend", "5", "4000"]);
    living.next("called", 5);
    assert_eq!(scene.reserved(), 350, "starting releases nothing");
    eventually("releasing the dead runs", || scene.reserved() == 50);
    assert_eq!(scene.payments("failed"), 30, "every dead run had called the upstream");
    assert_eq!(living.next("done", 1), ["5"]);
    assert_eq!((scene.reserved(), scene.payments("settled")), (0, 5));
    // Retries with the same keys show the upstream the same keys.
    let mut retry = scene.start(&["keyed", "30", "0"]);
    let again: BTreeSet<_> = retry.next("called", 30).into_iter().collect();
    assert_eq!(again, seen);
    assert_eq!(retry.next("done", 1), ["30"]);
    assert_eq!((scene.reserved(), scene.payments("settled"), scene.payments("failed")), (0, 35, 0));
    assert_eq!(scene.number("SELECT budget_remaining_cents FROM campaigns"), 650);
}

pub fn every_step() {
    if !cfg!(feature = "fault-points") {
        return;
    }
    for point in FaultPoint::ALL {
        let scene = Scene::new(100);
        let lines = scene.start(&["once", &format!("{point:?}")]).rest();
        assert!(lines.iter().all(|line| line.starts_with("called")), "{point:?} {lines:?}");
        let called: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("called ")).collect();
        let (reserved, calls) = match point {
            FaultPoint::Reserved | FaultPoint::Dispatching => (10, 0),
            FaultPoint::Answered => (10, 1),
            FaultPoint::Finished => (0, 1),
        };
        assert_eq!((scene.reserved(), called.len()), (reserved, calls), "{point:?}");
        scene.end_leases();
        let failed = match point {
            FaultPoint::Reserved | FaultPoint::Finished => 0,
            FaultPoint::Dispatching | FaultPoint::Answered => 1,
        };
        assert_eq!((scene.reserved(), scene.payments("failed")), (0, failed), "{point:?}");
        // A retry with the same key pays once, and the upstream recognizes it.
        let lines = scene.start(&["once"]).rest();
        let output = lines.iter().find_map(|line| line.strip_prefix("output ")).expect("a result");
        assert!(called.iter().all(|key| *key == output), "{point:?}");
        assert_eq!(
            (scene.reserved(), scene.payments("settled"), scene.payments("failed")),
            (0, 1, 0),
            "{point:?}"
        );
        assert_eq!(scene.number("SELECT budget_remaining_cents FROM campaigns"), 90, "{point:?}");
    }
}
