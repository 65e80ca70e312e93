//! Politeness: when a site may be requested again, and how much load it gets (《走进搜索引擎》§2.4.7).

pub mod delay;
mod request_slots;
pub mod site_monitor;
pub mod site_settings;
pub mod traffic_metrics;
pub mod utc_offset;
