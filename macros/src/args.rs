//! The options of `#[mcp_tool(..)]`, read and judged.

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use syn::{LitStr, Path};

use crate::attribute::{self, Entry};
use crate::diagnostics::{self, Errors, Warning};

const KNOWN: &[&str] = &[
    "task",
    "name",
    "title",
    "description",
    "ttl",
    "poll",
    "detach",
    "max_running",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "allow",
    "crate",
];

/// The options that say nothing about a tool that is never a task.
const ABOUT_TASKS: &[&str] = &["ttl", "poll", "detach", "max_running"];

/// How long a task lives where no `ttl` is given.
const DEFAULT_TTL: Duration = Duration::from_hours(1);

/// When a call is a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Forbidden,
    Optional,
    Required,
}

/// When a call that may be a task becomes one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Detach {
    /// At once.
    #[default]
    Always,
    /// If it has not ended by then.
    After(Duration),
    /// Where the body says so.
    Manual,
}

/// What the tool says of itself to clients.
#[derive(Default)]
pub(crate) struct Hints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

#[derive(Default)]
pub(crate) struct ToolOptions {
    /// Where the runtime is, if not at `::siding`.
    pub(crate) runtime: Option<Path>,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// `None` where mistakes leave it open; then nothing is judged by it.
    pub(crate) mode: Option<Mode>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Option<Duration>,
    /// `None` where it cannot be read; then nothing is judged by it.
    pub(crate) detach: Option<Detach>,
    pub(crate) max_running: Option<u32>,
    pub(crate) hints: Hints,
    /// The warnings that are not wanted.
    pub(crate) allowed: Vec<Warning>,
}

impl ToolOptions {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let entries = attribute::entries(tokens, KNOWN, errors);
        let mut options = Self {
            detach: Some(Detach::default()),
            ..Self::default()
        };
        for entry in &entries {
            options.read(entry, errors);
        }
        let find = |key: &str| entries.iter().find(|entry| entry.key == key);
        if find("task").is_none() && errors.is_empty() {
            options.mode = Some(Mode::Forbidden);
        }
        if options.mode == Some(Mode::Forbidden) {
            for entry in ABOUT_TASKS.iter().copied().filter_map(find) {
                errors.push(&entry.key, diagnostics::option_without_task(&entry.key));
            }
        }
        if let (Some(entry), Some(poll)) = (find("poll"), options.poll) {
            let ttl = options.ttl.unwrap_or(DEFAULT_TTL);
            if poll > ttl {
                let [poll, ttl] = [poll, ttl].map(humantime::format_duration);
                errors.push(entry, diagnostics::poll_above_ttl(poll, ttl));
            }
        }
        if let Hints {
            read_only: Some(true),
            destructive: Some(true),
            ..
        } = options.hints
        {
            errors.push(
                find("destructive").map(|entry| &entry.key),
                diagnostics::contradictory_hints(),
            );
        }
        options
    }

    fn read(&mut self, entry: &Entry, errors: &mut Errors) {
        match entry.key.to_string().as_str() {
            "task" => self.mode = entry.string(errors).and_then(|text| mode(&text, errors)),
            "name" => self.name = entry.string(errors),
            "title" => self.title = entry.string(errors),
            "description" => self.description = entry.string(errors),
            "ttl" => self.ttl = duration(entry, errors),
            "poll" => self.poll = duration(entry, errors),
            "detach" => self.detach = detach(entry, errors),
            "max_running" => self.max_running = entry.positive(errors),
            "read_only" => self.hints.read_only = entry.bool(errors),
            "destructive" => self.hints.destructive = entry.bool(errors),
            "idempotent" => self.hints.idempotent = entry.bool(errors),
            "open_world" => self.hints.open_world = entry.bool(errors),
            "allow" => self.allowed = allowed(entry, errors),
            "crate" => self.runtime = entry.absolute_path(errors),
            other => unreachable!("`{other}` is in `KNOWN` only"),
        }
    }
}

/// Reads the names of warnings.
fn allowed(entry: &Entry, errors: &mut Errors) -> Vec<Warning> {
    let known = Warning::ALL.map(Warning::id);
    let names = entry.listed::<Ident>("names of warnings", &known.join(", "), errors);
    let mut allowed = Vec::new();
    for name in names.unwrap_or_default() {
        let mut all = Warning::ALL.into_iter();
        if let Some(warning) = all.find(|warning| name == warning.id()) {
            allowed.push(warning);
        } else {
            let suggestion = diagnostics::suggestion(&name.to_string(), &known);
            errors.push(&name, diagnostics::unknown_warning(&name, suggestion));
        }
    }
    allowed
}

/// The options of `#[mcp_part(..)]`.
#[derive(Default)]
pub(crate) struct PartOptions {
    /// Where the runtime is, if not at `::siding`.
    pub(crate) runtime: Option<Path>,
    /// The warnings that are not wanted.
    pub(crate) allowed: Vec<Warning>,
}

impl PartOptions {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        for entry in &attribute::entries(tokens, &["allow", "crate"], errors) {
            if entry.key == "allow" {
                options.allowed = allowed(entry, errors);
            } else {
                options.runtime = entry.absolute_path(errors);
            }
        }
        options
    }
}

fn mode(text: &LitStr, errors: &mut Errors) -> Option<Mode> {
    match text.value().as_str() {
        "forbidden" => Some(Mode::Forbidden),
        "optional" => Some(Mode::Optional),
        "required" => Some(Mode::Required),
        other => {
            let suggestion = diagnostics::suggestion(other, &["forbidden", "optional", "required"]);
            errors.push(text, diagnostics::unknown_mode(other, suggestion));
            None
        }
    }
}

fn duration(entry: &Entry, errors: &mut Errors) -> Option<Duration> {
    let text = entry.string_with("a duration in a string", "\"30m\"", errors)?;
    parse_duration(&text, &text.value(), &entry.key, errors)
}

fn detach(entry: &Entry, errors: &mut Errors) -> Option<Detach> {
    let text = entry.string(errors)?;
    match text.value().as_str() {
        "always" => Some(Detach::Always),
        "manual" => Some(Detach::Manual),
        other => {
            if let Some(delay) = other.strip_prefix("after ") {
                return parse_duration(&text, delay, &entry.key, errors).map(Detach::After);
            }
            errors.push(&text, diagnostics::unknown_detach(other));
            None
        }
    }
}

fn parse_duration(
    literal: &LitStr,
    text: &str,
    option: &Ident,
    errors: &mut Errors,
) -> Option<Duration> {
    let message = match humantime::parse_duration(text) {
        Ok(duration) if millis(duration) > 0 => return Some(duration),
        Ok(_) => diagnostics::zero_duration(option),
        Err(_) => diagnostics::bad_duration(text),
    };
    errors.push(literal, message);
    None
}

/// Whole milliseconds, the unit of the wire.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
