//! Control of a running engine by operators: orders and reconfiguration.

pub mod dispatch;
pub mod indexnow;
pub mod orders;
pub mod recrawls;
pub(crate) mod stop_signal;
