//! Gives the `async` blocks in a step their type, so that `?` and a bare `Ok(..)` need none.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprClosure, ExprReturn, Item, Stmt};

use crate::expand::body::{step_block, step_result};
use crate::runtime::Runtime;

/// Types the block that `expr` is, or that a closure in its place ends in.
pub(crate) fn type_blocks(expr: &mut Expr, runtime: &Runtime) {
    match expr {
        Expr::Async(block) => {
            Returns { runtime }.visit_block_mut(&mut block.block);
            tail_of_block(&mut block.block, runtime);
            step_block(expr, runtime);
        }
        Expr::Closure(closure) => type_blocks(&mut closure.body, runtime),
        Expr::Block(block) => {
            if let Some(Stmt::Expr(tail, None)) = block.block.stmts.last_mut() {
                type_blocks(tail, runtime);
            }
        }
        Expr::Paren(paren) => type_blocks(&mut paren.expr, runtime),
        Expr::Group(group) => type_blocks(&mut group.expr, runtime),
        _ => {}
    }
}

/// Converts what is returned from within a block.
struct Returns<'a> {
    runtime: &'a Runtime,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_return_mut(&mut self, expr: &mut ExprReturn) {
        visit_mut::visit_expr_return_mut(self, expr);
        if let Some(value) = &mut expr.expr {
            tail(value, self.runtime);
        }
    }

    // What returns from something else.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

fn tail_of_block(block: &mut Block, runtime: &Runtime) {
    if let Some(Stmt::Expr(expr, None)) = block.stmts.last_mut() {
        tail(expr, runtime);
    }
}

/// Converts the error of `expr`, the value of a block, to the one of a step.
///
/// An `Ok(..)` has no error to convert: its type would be left open. So would that of `.into()`.
fn tail(expr: &mut Expr, runtime: &Runtime) {
    match expr {
        Expr::If(branch) => {
            tail_of_block(&mut branch.then_branch, runtime);
            if let Some((_, otherwise)) = &mut branch.else_branch {
                tail(otherwise, runtime);
            }
        }
        Expr::Match(choice) => {
            for arm in &mut choice.arms {
                tail(&mut arm.body, runtime);
            }
        }
        Expr::Block(block) => tail_of_block(&mut block.block, runtime),
        Expr::Unsafe(block) => tail_of_block(&mut block.block, runtime),
        Expr::Paren(paren) => tail(&mut paren.expr, runtime),
        Expr::Group(group) => tail(&mut group.expr, runtime),
        expr if needs_conversion(expr) => step_result(expr, runtime),
        _ => {}
    }
}

fn needs_conversion(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => match function.path.segments.last() {
                Some(last) if last.ident == "Ok" => false,
                Some(last) if last.ident == "Err" => !call.args.iter().any(is_into),
                _ => true,
            },
            _ => true,
        },
        Expr::MethodCall(_) | Expr::Await(_) | Expr::Path(_) | Expr::Field(_) => true,
        // Jumps and loops have no value, and of a macro call it cannot be known.
        _ => false,
    }
}

fn is_into(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if call.method == "into")
}
