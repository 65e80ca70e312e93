//! Simulation of power cuts between the file operations of a writer.
//!
//! The writer runs once while its operations are recorded. A model of the disk then replays them and cuts the power after
//! each. The model promises only what POSIX does: the content of a file is durable once the file is synced, a name once
//! its directory is. Everything else may be lost, complete, or, for content, half written; names may reach the disk in any
//! order.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::layer::{self, Operation};

/// Files by path relative to the directory under test.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Limit on names that are not synced at one time; all of their combinations are tried.
const MAX_UNSYNCED_NAMES: usize = 12;

/// Simulates a power cut after every file operation of `write` in the directory `root`.
///
/// After each cut, every file must have its content from before or from after the call, and after the last operation the
/// content from after it. Returns the number of simulated disks.
///
/// # Errors
/// Returns a description of the first disk that violates this, or of a file that was changed without this crate.
pub fn check(root: &Path, write: impl FnOnce()) -> Result<usize, String> {
    check_with(root, write, |_| true)
}

/// Like [`check`], for writers that change several files: `is_valid` must also hold for the files after each cut.
pub fn check_with(
    root: &Path,
    write: impl FnOnce(),
    is_valid: impl Fn(&Files) -> bool,
) -> Result<usize, String> {
    check_cuts(root, write, |files, old, new, is_done| {
        find_violation(files, old, new, is_done).or_else(|| find_invalid(files, &is_valid))
    })
}

/// Like [`check_with`], but only `is_valid` must hold after each cut. It is for writers that move files out of the way,
/// which are missing for a while.
pub fn check_states(
    root: &Path,
    write: impl FnOnce(),
    is_valid: impl Fn(&Files) -> bool,
) -> Result<usize, String> {
    check_cuts(root, write, |files, _, _, _| find_invalid(files, &is_valid))
}

/// Looks for a problem on every simulated disk: in its files, given those before and after the call and whether all
/// operations are done.
fn check_cuts(
    root: &Path,
    write: impl FnOnce(),
    find_problem: impl Fn(&Files, &Files, &Files, bool) -> Option<String>,
) -> Result<usize, String> {
    let mut disk = Disk::read(root).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
    let old = disk.files(DiskState::Live);
    let operations = layer::record_during(write);
    let now = Disk::read(root).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
    let new = now.files(DiskState::Live);
    if operations.is_empty() {
        return Err("no file operation was recorded".into());
    }
    let mut replay = disk.clone();
    for operation in &operations {
        replay.apply(operation);
    }
    find_untracked(&old, &new, &replay.files(DiskState::Live))?;

    let mut states = 0;
    for done in 0..=operations.len() {
        if let Some(operation) = done.checked_sub(1).and_then(|last| operations.get(last)) {
            disk.apply(operation);
        }
        for files in disk.after_cut()? {
            states += 1;
            if let Some(problem) = find_problem(&files, &old, &new, done == operations.len()) {
                let steps = operations[..done].iter().map(describe).collect::<Vec<_>>().join(", ");
                return Err(format!("{problem}, after a cut after: {steps}"));
            }
        }
    }
    Ok(states)
}

/// Finds a file whose change was not recorded. Empty ones are locks.
fn find_untracked(old: &Files, new: &Files, recorded: &Files) -> Result<(), String> {
    for (path, content) in new {
        let is_known = recorded.get(path) == Some(content) || old.get(path) == Some(content);
        if !is_known && !content.is_empty() {
            return Err(format!("{} was changed without pharos-files", path.display()));
        }
    }
    Ok(())
}

fn find_violation(files: &Files, old: &Files, new: &Files, is_done: bool) -> Option<String> {
    old.keys().chain(new.keys()).find_map(|path| {
        let (found, old, new) = (files.get(path), old.get(path), new.get(path));
        // A lock file is created without this crate and has no content to lose.
        let is_lock = new.is_some_and(Vec::is_empty) && old.is_none();
        if found == new || is_lock {
            return None;
        }
        let is_removal = new.is_none();
        if found != old {
            return Some(format!("{} has neither the old nor the new content", path.display()));
        }
        (is_done && !is_removal).then(|| format!("the new content of {} is not durable", path.display()))
    })
}

fn find_invalid(files: &Files, is_valid: impl Fn(&Files) -> bool) -> Option<String> {
    let names = || files.keys().map(|path| path.display().to_string()).collect::<Vec<_>>();
    (!is_valid(files)).then(|| format!("invalid files {:?}", names()))
}

fn describe(operation: &Operation) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match operation {
        Operation::Create(path) => format!("create {}", name(path)),
        Operation::CreateDirectory(path) => format!("create directory {}", name(path)),
        Operation::SyncFile(path, _) => format!("sync {}", name(path)),
        Operation::SyncDirectory(path) => format!("sync directory {}", name(path)),
        Operation::Rename { from, to, .. } => format!("rename {} to {}", name(from), name(to)),
        Operation::Remove(path) => format!("remove {}", name(path)),
    }
}

/// Index of a file or directory in [`Disk::nodes`].
type NodeId = usize;
type Entries = BTreeMap<OsString, NodeId>;

const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
enum Node {
    File { live: Vec<u8>, durable: Vec<u8> },
    Directory { live: Entries, durable: Entries },
}

/// A change of names that is not durable yet.
#[derive(Clone, Debug)]
enum NameChange {
    Insert { directory: NodeId, name: OsString, node: NodeId },
    Rename { from: (NodeId, OsString), to: (NodeId, OsString), node: NodeId },
    Remove { directory: NodeId, name: OsString },
}

impl NameChange {
    /// Returns the directory whose sync makes the change durable.
    fn directory(&self) -> NodeId {
        match self {
            Self::Insert { directory, .. } | Self::Remove { directory, .. } => *directory,
            Self::Rename { to, .. } => to.0,
        }
    }
}

/// The fate of content that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiskState {
    /// No cut: what processes see.
    Live,
    Lost,
    Torn,
    Complete,
}

/// A directory tree as processes see it, and the part of it that is durable.
#[derive(Clone, Debug)]
struct Disk {
    root: PathBuf,
    nodes: Vec<Node>,
    pending: Vec<NameChange>,
}

impl Disk {
    /// Reads a directory; everything in it counts as durable.
    fn read(root: &Path) -> io::Result<Self> {
        let mut disk = Self { root: root.to_path_buf(), nodes: Vec::new(), pending: Vec::new() };
        disk.read_node(root)?;
        Ok(disk)
    }

    fn read_node(&mut self, path: &Path) -> io::Result<NodeId> {
        let node = self.nodes.len();
        if !path.is_dir() {
            let content = fs::read(path)?;
            self.nodes.push(Node::File { live: content.clone(), durable: content });
            return Ok(node);
        }
        self.nodes.push(Node::Directory { live: Entries::new(), durable: Entries::new() });
        let mut entries = Entries::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            entries.insert(entry.file_name(), self.read_node(&entry.path())?);
        }
        self.nodes[node] = Node::Directory { live: entries.clone(), durable: entries };
        Ok(node)
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => self.set_content(path, None, false),
            Operation::CreateDirectory(path) => {
                self.resolve(path);
            }
            Operation::SyncFile(path, content) => self.set_content(path, Some(content), true),
            Operation::SyncDirectory(path) => {
                let Some(directory) = self.resolve(path) else { return };
                let (durable, pending) =
                    self.pending.drain(..).partition(|change| change.directory() == directory);
                self.pending = pending;
                self.make_durable(durable);
            }
            Operation::Rename { from, to, files } => {
                let (Some(from_entry), Some(to_entry)) = (self.resolve_parent(from), self.resolve_parent(to))
                else {
                    return;
                };
                for (relative, content) in files {
                    let path =
                        if relative.as_os_str().is_empty() { from.clone() } else { from.join(relative) };
                    self.set_content(&path, Some(content), false);
                }
                let Some(node) = self.entry(from_entry.0, &from_entry.1) else { return };
                self.set_live(from_entry.0, &from_entry.1, None);
                self.set_live(to_entry.0, &to_entry.1, Some(node));
                self.pending.push(NameChange::Rename { from: from_entry, to: to_entry, node });
            }
            Operation::Remove(path) => {
                let Some((directory, name)) = self.resolve_parent(path) else { return };
                self.set_live(directory, &name, None);
                self.pending.push(NameChange::Remove { directory, name });
            }
        }
    }

    /// Sets the content of a file and adds the file if it is unknown.
    fn set_content(&mut self, path: &Path, content: Option<&Vec<u8>>, is_synced: bool) {
        let Some((directory, name)) = self.resolve_parent(path) else { return };
        let node = match self.entry(directory, &name) {
            Some(node) => node,
            None => self.insert(directory, name, Node::File { live: Vec::new(), durable: Vec::new() }),
        };
        if let (Node::File { live, durable }, Some(content)) = (&mut self.nodes[node], content) {
            live.clone_from(content);
            if is_synced {
                durable.clone_from(content);
            }
        }
    }

    fn insert(&mut self, directory: NodeId, name: OsString, node: Node) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.set_live(directory, &name, Some(id));
        self.pending.push(NameChange::Insert { directory, name, node: id });
        id
    }

    fn make_durable(&mut self, changes: Vec<NameChange>) {
        for change in changes {
            match change {
                NameChange::Insert { directory, name, node } => {
                    self.set_durable(directory, &name, Some(node));
                }
                NameChange::Rename { from, to, node } => {
                    self.set_durable(from.0, &from.1, None);
                    self.set_durable(to.0, &to.1, Some(node));
                }
                NameChange::Remove { directory, name } => self.set_durable(directory, &name, None),
            }
        }
    }

    /// Returns the files of every disk that a power cut at this point may leave.
    fn after_cut(&self) -> Result<Vec<Files>, String> {
        if self.pending.len() > MAX_UNSYNCED_NAMES {
            return Err(format!("{} names are not synced: too many to try", self.pending.len()));
        }
        let mut found = Vec::new();
        for reached in 0..1_usize << self.pending.len() {
            let mut disk = self.clone();
            let changes = disk.pending.drain(..).enumerate();
            let changes =
                changes.filter(|(at, _)| reached >> at & 1 == 1).map(|(_, change)| change).collect();
            disk.make_durable(changes);
            found.extend(
                [DiskState::Lost, DiskState::Torn, DiskState::Complete].map(|state| disk.files(state)),
            );
        }
        Ok(found)
    }

    fn files(&self, state: DiskState) -> Files {
        let mut files = Files::new();
        self.add_files(ROOT, Path::new(""), state, &mut files);
        files
    }

    fn add_files(&self, node: NodeId, path: &Path, state: DiskState, files: &mut Files) {
        match &self.nodes[node] {
            Node::File { live, durable } => {
                let content = match state {
                    DiskState::Live | DiskState::Complete => live.clone(),
                    DiskState::Torn if live != durable => live[..live.len() / 2].to_vec(),
                    DiskState::Lost | DiskState::Torn => durable.clone(),
                };
                files.insert(path.to_path_buf(), content);
            }
            Node::Directory { live, durable } => {
                let entries = if state == DiskState::Live { live } else { durable };
                for (name, node) in entries {
                    self.add_files(*node, &path.join(name), state, files);
                }
            }
        }
    }

    /// Returns the node of a directory; `None` outside the directory under test. A directory that was created without
    /// this crate is added: its name is not durable.
    fn resolve(&mut self, path: &Path) -> Option<NodeId> {
        let relative = path.strip_prefix(&self.root).ok()?.to_path_buf();
        let mut node = ROOT;
        for name in relative.iter() {
            node = match self.entry(node, name) {
                Some(node) => node,
                None => {
                    let new = Node::Directory { live: Entries::new(), durable: Entries::new() };
                    self.insert(node, name.to_os_string(), new)
                }
            };
        }
        Some(node)
    }

    /// Returns directory and name of a path; `None` outside the directory under test.
    fn resolve_parent(&mut self, path: &Path) -> Option<(NodeId, OsString)> {
        let directory = self.resolve(path.parent()?)?;
        Some((directory, path.file_name()?.to_os_string()))
    }

    fn entry(&self, directory: NodeId, name: &OsStr) -> Option<NodeId> {
        match &self.nodes[directory] {
            Node::Directory { live, .. } => live.get(name).copied(),
            Node::File { .. } => None,
        }
    }

    /// Sets or removes an entry that processes see.
    fn set_live(&mut self, directory: NodeId, name: &OsStr, node: Option<NodeId>) {
        if let Node::Directory { live, .. } = &mut self.nodes[directory] {
            set_entry(live, name, node);
        }
    }

    fn set_durable(&mut self, directory: NodeId, name: &OsStr, node: Option<NodeId>) {
        if let Node::Directory { durable, .. } = &mut self.nodes[directory] {
            set_entry(durable, name, node);
        }
    }
}

fn set_entry(entries: &mut Entries, name: &OsStr, node: Option<NodeId>) {
    match node {
        Some(node) => entries.insert(name.to_os_string(), node),
        None => entries.remove(name),
    };
}
