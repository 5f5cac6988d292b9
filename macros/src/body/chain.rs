//! An operation together with the calls that follow it: `ctx.input(..).optional().await?`.

use syn::{Expr, ExprMethodCall, ExprPath};

/// What an operation on the context is.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// One question.
    Question,
    /// Several questions at once.
    Questions,
    /// A side effect, with the name of its kind in the list of operations.
    Step(&'static str),
    Sleep,
    Detach,
}

impl Kind {
    /// The operation that the method `name` of a context is.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "input" | "input_url" | "choose" => Some(Self::Question),
            "input_all" => Some(Self::Questions),
            "step" | "step_retry" | "step_all" => Some(Self::Step("step")),
            "cleanup" => Some(Self::Step("cleanup")),
            "sleep" => Some(Self::Sleep),
            "detach" => Some(Self::Detach),
            _ => None,
        }
    }
}

/// The methods of a question that leave it a question, or a question of the same answer.
const BUILDERS: &[&str] = &[
    "optional",
    "timeout",
    "prefill",
    "key",
    "was",
    "text_may_differ",
];

/// What an expression that starts with an operation does with it.
pub(crate) struct Chain {
    pub(crate) kind: Kind,
    /// What `.key(..)` was given.
    pub(crate) key: Option<Expr>,
    /// Whether the operation is awaited within the expression.
    pub(crate) awaited: bool,
    /// Whether the value of the expression is the outcome of the operation itself.
    pub(crate) direct: bool,
}

impl Chain {
    /// Reads `expr`, if it starts with an operation on `context`.
    pub(crate) fn of(expr: &Expr, context: &str) -> Option<Self> {
        match expr {
            Expr::MethodCall(call) if starts(call, context) => Some(Self {
                kind: Kind::of(&call.method.to_string())?,
                key: None,
                awaited: false,
                direct: true,
            }),
            Expr::MethodCall(call) => {
                let mut chain = Self::of(&call.receiver, context)?;
                if call.method == "key" && !chain.awaited {
                    chain.key = call.args.first().cloned();
                }
                chain.direct &= BUILDERS.iter().any(|builder| call.method == builder);
                Some(chain)
            }
            Expr::Await(_) => Some(Self {
                awaited: true,
                ..Self::of(inner(expr)?, context)?
            }),
            Expr::Field(_) => Some(Self {
                direct: false,
                ..Self::of(inner(expr)?, context)?
            }),
            _ => Self::of(inner(expr)?, context),
        }
    }
}

/// Whether `call` is an operation on `context`.
pub(crate) fn starts(call: &ExprMethodCall, context: &str) -> bool {
    is_context(&call.receiver, context) && Kind::of(&call.method.to_string()).is_some()
}

pub(crate) fn is_context(expr: &Expr, context: &str) -> bool {
    match expr {
        Expr::Path(ExprPath {
            qself: None, path, ..
        }) => path.is_ident(context),
        Expr::Paren(expr) => is_context(&expr.expr, context),
        Expr::Group(expr) => is_context(&expr.expr, context),
        Expr::Reference(expr) => is_context(&expr.expr, context),
        Expr::Unary(expr) => is_context(&expr.expr, context),
        _ => false,
    }
}

/// The expression on whose value `expr` works, where `expr` adds no other operand.
pub(crate) fn inner(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Await(expr) => Some(&expr.base),
        Expr::Try(expr) => Some(&expr.expr),
        Expr::Paren(expr) => Some(&expr.expr),
        Expr::Group(expr) => Some(&expr.expr),
        Expr::Field(expr) => Some(&expr.base),
        _ => None,
    }
}

/// As [`inner`].
pub(crate) fn inner_mut(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Await(expr) => Some(&mut expr.base),
        Expr::Try(expr) => Some(&mut expr.expr),
        Expr::Paren(expr) => Some(&mut expr.expr),
        Expr::Group(expr) => Some(&mut expr.expr),
        Expr::Field(expr) => Some(&mut expr.base),
        _ => None,
    }
}
