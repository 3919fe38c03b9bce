//! The roles of a user, compared with those that campaigns target.

use std::collections::HashSet;

/// The roles of a user, prepared once for comparing them with many campaigns: both lists may have 50 entries, and folding
/// each pair anew would take longer than everything else about a run.
#[derive(Debug, Clone, Default)]
pub struct UserRoles(HashSet<String>);

impl UserRoles {
    /// The roles of a user.
    #[must_use]
    pub fn new(roles: &[String]) -> Self {
        Self(roles.iter().map(|role| role.to_lowercase()).collect())
    }

    /// Whether a campaign with these target roles means the user: any role in common, whatever its case. A campaign without
    /// target roles means everybody.
    #[must_use]
    pub fn meet(&self, target_roles: &[String]) -> bool {
        target_roles.is_empty() || target_roles.iter().any(|target| self.0.contains(&target.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_role_in_common_meets_and_no_target_means_everybody() {
        let roles = |roles: &[&str]| roles.iter().map(ToString::to_string).collect::<Vec<_>>();
        let meet = |own: &[&str], target: &[&str]| UserRoles::new(&roles(own)).meet(&roles(target));
        assert!(meet(&[], &[]));
        assert!(meet(&["designer", "DEVELOPER"], &["Developer"]));
        assert!(!meet(&["designer"], &["Developer"]) && !meet(&[], &["Developer"]));
    }
}
