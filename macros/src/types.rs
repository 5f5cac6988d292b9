//! What can be told from the spelling of a type alone.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    ExprPath, Item, Lifetime, Path, QSelf, Token, Type, TypeFnPtr, TypeImplTrait, TypePath,
    TypeTraitObject, token,
};

/// What keeps a type from being written in the expansion, or from living as long as a call.
#[derive(Default)]
pub(crate) struct Spelling<'a> {
    pub(crate) impl_trait: Option<&'a TypeImplTrait>,
    pub(crate) named_lifetime: Option<&'a Lifetime>,
}

impl<'a> Spelling<'a> {
    pub(crate) fn of(ty: &'a Type) -> Self {
        let mut spelling = Self::default();
        spelling.visit_type(ty);
        spelling
    }
}

impl<'a> Visit<'a> for Spelling<'a> {
    fn visit_lifetime(&mut self, lifetime: &'a Lifetime) {
        if lifetime.ident != "_" {
            self.named_lifetime.get_or_insert(lifetime);
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'a TypeImplTrait) {
        self.impl_trait.get_or_insert(ty);
    }

    /// The bounds of a trait object say what is in it; only a borrow is of interest.
    fn visit_type_trait_object(&mut self, _: &'a TypeTraitObject) {}

    /// Its lifetimes are its own.
    fn visit_type_fn_ptr(&mut self, _: &'a TypeFnPtr) {}
}

/// Writes a type out where `Self` stands for it, for code outside of its `impl` block.
pub(crate) struct WithoutSelf<'a>(pub(crate) &'a Type);

impl WithoutSelf<'_> {
    /// Turns `Self::Name` into `<Type>::Name`.
    fn qualify(&self, qself: &mut Option<QSelf>, path: &mut Path) {
        if qself.is_some() || path.segments.len() < 2 || !starts_with_self(path) {
            return;
        }
        let segments = path.segments.iter().skip(1).cloned();
        let span = Span::mixed_site();
        *qself = Some(QSelf {
            lt_token: Token![<](span),
            ty: Box::new(self.0.clone()),
            position: 0,
            as_token: None,
            gt_token: Token![>](span),
        });
        *path = Path {
            leading_colon: Some(token::PathSep(span)),
            segments: segments.collect(),
        };
    }
}

impl VisitMut for WithoutSelf<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(TypePath {
            qself: None, path, ..
        }) = ty
            && path.is_ident("Self")
        {
            *ty = self.0.clone();
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }

    fn visit_type_path_mut(&mut self, ty: &mut TypePath) {
        self.qualify(&mut ty.qself, &mut ty.path);
        visit_mut::visit_type_path_mut(self, ty);
    }

    fn visit_expr_path_mut(&mut self, expr: &mut ExprPath) {
        self.qualify(&mut expr.qself, &mut expr.path);
        visit_mut::visit_expr_path_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

fn starts_with_self(path: &Path) -> bool {
    path.segments
        .first()
        .is_some_and(|first| first.ident == "Self")
}
