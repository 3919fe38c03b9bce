//! The tools of the toolset, one file each.

mod authenticate_user;
mod complete_task;
mod get_preferences;
mod get_task_details;
mod get_user_status;
mod run_service;
mod search_services;
mod set_preferences;
mod sponsors_text;

use annai_core::RegistryBuilder;

use crate::toolset::{ServicesConfig, ServicesToolset};

/// Adds the toolset with its tools, in the order of their use. Nothing is opened.
pub fn register(registry: &mut RegistryBuilder, config: ServicesConfig) {
    registry
        .toolset::<ServicesToolset>(config)
        .tool::<search_services::SearchServices>()
        .tool::<authenticate_user::AuthenticateUser>()
        .tool::<get_task_details::GetTaskDetails>()
        .tool::<complete_task::CompleteTask>()
        .tool::<run_service::RunService>()
        .tool::<get_user_status::GetUserStatus>()
        .tool::<get_preferences::GetPreferences>()
        .tool::<set_preferences::SetPreferences>();
}
