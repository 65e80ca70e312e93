//! The public HTML pages. They work without JavaScript and load nothing from third parties.

pub(crate) mod assets;
pub(crate) mod bot;
pub(crate) mod cached_page;
pub(crate) mod clean_view;
pub(crate) mod directory;
pub(crate) mod error_page;
pub(crate) mod frame;
pub(crate) mod help;
pub(crate) mod home;
pub(crate) mod hot;
pub(crate) mod paging;
pub(crate) mod privacy;
pub(crate) mod results;
pub(crate) mod site_icon;
