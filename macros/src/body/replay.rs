//! What is done again each time the body runs, and perhaps was not meant to be.

use proc_macro2::{Ident, Span};
use syn::{Expr, ExprMethodCall, ExprPath, Local};

use super::binding::Binding;
use super::{Rewriter, call_name};
use crate::args::Mode;
use crate::diagnostics::{self, Warned, Warning};

/// Functions that give another value each time, by the last two names of their paths.
const IMPURE: &[(&str, &str)] = &[
    ("SystemTime", "now"),
    ("Instant", "now"),
    ("Utc", "now"),
    ("Local", "now"),
    ("OffsetDateTime", "now_utc"),
    ("OffsetDateTime", "now_local"),
    ("Zoned", "now"),
    ("Timestamp", "now"),
    ("Uuid", "new_v4"),
    ("Uuid", "now_v7"),
    ("rand", "random"),
    ("rand", "random_range"),
    ("rand", "random_bool"),
    ("rand", "rng"),
    ("rand", "thread_rng"),
    ("env", "var"),
    ("env", "var_os"),
    ("env", "vars"),
];

/// Methods that give a guard.
const LOCKS: &[&str] = &["lock", "read", "write", "borrow_mut"];

/// Methods that leave a guard a guard.
const UNWRAPS: &[&str] = &["unwrap", "expect", "unwrap_or_else"];

/// Methods that poll several futures of a stream.
const BUFFERS: &[&str] = &["buffer_unordered", "buffered"];

/// What is known of the run of a body so far.
#[derive(Default)]
pub(super) struct Replay {
    /// Whether the call may park in this body.
    parks: bool,
    /// The locks that are held.
    guards: Vec<Guard>,
    /// The variables that are streams of futures which borrow their items.
    streams: Vec<Ident>,
    /// Whether the stream that is visited next gets boxed.
    pub(super) boxed: bool,
    warnings: Vec<Warned>,
}

impl Replay {
    /// What there is to warn of.
    pub(super) fn warnings(mut self, mode: Option<Mode>) -> Vec<Warned> {
        // A call that is never a task runs once. One that never parks runs again after a crash, which
        // matters if the outcomes in the journal go to other items then.
        let again = mode != Some(Mode::Forbidden);
        let parks = self.parks && again;
        self.warnings.retain(|warned| match warned.warning {
            Warning::Stream => true,
            Warning::Unordered => again,
            Warning::Await | Warning::Impure | Warning::Guard => parks,
        });
        self.warnings
    }

    /// How many locks are held.
    pub(super) fn held(&self) -> usize {
        self.guards.len()
    }

    /// Forgets the locks that were taken since `held` of them were.
    pub(super) fn let_go(&mut self, held: usize) {
        self.guards.truncate(held);
    }

    /// Notes whether `call` boxes a stream; gives what was known before.
    pub(super) fn boxes(&mut self, call: &ExprMethodCall) -> bool {
        let outer = self.boxed;
        self.boxed |= call.method == "boxed";
        outer
    }
}

/// A lock that is held by a variable.
struct Guard {
    name: Ident,
    /// Whether it was told already.
    told: bool,
}

impl Rewriter<'_> {
    /// Notes an `.await` on something else than the context.
    pub(super) fn awaited(&mut self, span: Span) {
        if !self.lazy {
            self.warn(Warning::Await, diagnostics::await_outside_step(), span);
        }
    }

    /// Notes a call of a function that gives another value each time.
    pub(super) fn called(&mut self, function: &Expr) {
        let Expr::Path(ExprPath { path, .. }) = function else {
            return;
        };
        let mut last = path.segments.iter().rev().map(|segment| &segment.ident);
        let (Some(name), Some(of)) = (last.next(), last.next()) else {
            return;
        };
        let known = |(first, second): &(&str, &str)| of == first && name == second;
        if !self.lazy && IMPURE.iter().any(known) {
            let message = diagnostics::impure_call(format!("{of}::{name}"));
            self.warn(Warning::Impure, message, name.span());
        }
    }

    /// Notes that the call may park here.
    pub(super) fn parks_at(&mut self, span: Span) {
        self.replay.parks = true;
        let mut held = Vec::new();
        for guard in self.replay.guards.iter_mut().filter(|guard| !guard.told) {
            guard.told = true;
            held.push(diagnostics::guard_across_park(&guard.name));
        }
        for message in held {
            self.warn(Warning::Guard, message, span);
        }
    }

    /// Notes that `local` holds a lock, if it does.
    pub(super) fn bind_guard(&mut self, local: &Local) {
        let Some(init) = &local.init else { return };
        if let (true, Some(name)) = (is_lock(&init.expr), Binding::of_pattern(&local.pat).name()) {
            self.replay.guards.push(Guard {
                name: name.clone(),
                told: false,
            });
        }
    }

    /// Forgets a guard that `drop` is called with.
    pub(super) fn drop_guard(&mut self, name: &Ident) {
        self.replay.guards.retain(|guard| guard.name != *name);
    }

    /// Notes a stream of futures that borrow its items, for which rustc has no good words.
    pub(super) fn buffered(&mut self, call: &ExprMethodCall) {
        let buffers = BUFFERS.iter().any(|buffer| call.method == buffer);
        if buffers && !self.replay.boxed && self.makes_borrowing_futures(&call.receiver) {
            let message = diagnostics::stream_of_borrows(&call.method);
            self.warn(Warning::Stream, message, call.method.span());
        }
    }

    /// Notes that `local` is such a stream, if it is.
    pub(super) fn bind_stream(&mut self, local: &Local) {
        let Some(init) = &local.init else { return };
        let binding = Binding::of_pattern(&local.pat);
        if let (true, Some(name)) = (self.makes_borrowing_futures(&init.expr), binding.name()) {
            self.replay.streams.push(name.clone());
        }
    }

    /// Whether `stream` maps borrowed items by a closure, and neither collects nor boxes what that
    /// gives.
    fn makes_borrowing_futures(&self, stream: &Expr) -> bool {
        match stream {
            Expr::Path(path) => self
                .replay
                .streams
                .iter()
                .any(|name| path.path.is_ident(name)),
            Expr::MethodCall(call) if call.method == "collect" || call.method == "boxed" => false,
            Expr::MethodCall(call) => {
                let maps =
                    call.method == "map" && matches!(call.args.first(), Some(Expr::Closure(_)));
                maps && lends_items(&call.receiver) || self.makes_borrowing_futures(&call.receiver)
            }
            Expr::Call(call) if call_name(call).is_some_and(|name| name == "iter") => {
                let mut items = call.args.iter();
                items.any(|items| self.makes_borrowing_futures(items))
            }
            _ => false,
        }
    }

    pub(super) fn warn(&mut self, warning: Warning, message: String, span: Span) {
        if !self.surroundings.allowed.contains(&warning) {
            self.replay.warnings.push(Warned {
                warning,
                message,
                span,
            });
        }
    }
}

fn is_lock(expr: &Expr) -> bool {
    match expr {
        Expr::Await(expr) => is_lock(&expr.base),
        Expr::Try(expr) => is_lock(&expr.expr),
        Expr::Paren(expr) => is_lock(&expr.expr),
        Expr::Group(expr) => is_lock(&expr.expr),
        Expr::MethodCall(call) if UNWRAPS.iter().any(|unwrap| call.method == unwrap) => {
            is_lock(&call.receiver)
        }
        Expr::MethodCall(call) => {
            call.args.is_empty() && LOCKS.iter().any(|lock| call.method == lock)
        }
        _ => false,
    }
}

/// Whether `items` are borrowed from a collection.
fn lends_items(items: &Expr) -> bool {
    match items {
        Expr::Reference(_) => true,
        Expr::MethodCall(call) => call.method == "iter" && call.args.is_empty(),
        Expr::Call(call) if call_name(call).is_some_and(|name| name == "iter") => {
            call.args.iter().any(lends_items)
        }
        _ => false,
    }
}
