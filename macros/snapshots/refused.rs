::core::compile_error! {
    "unknown task mode `requierd`; did you mean `required`?"
}
::core::compile_error! {
    "clients pass an argument by its name, so a parameter is one name; write `name: Type` and take it apart in the body"
}
::core::compile_error! {
    "this question has no name to keep its answer under; bind it with `let name = ctx.input(..).await?`, or add `.key(\"name\")`"
}
/// Deploys.
#[allow(unused_variables, unused_mut, clippy::all, clippy::pedantic)]
async fn deploy(ctx: &mut Ctx<App>, Pair(a, b): Pair) -> Result<String> {
    ::siding::__private::refused()
}
#[allow(non_camel_case_types)]
///The tool `deploy`, to be registered with `Server::tool` or `tools!`.
struct deploy {}
#[automatically_derived]
#[allow(trivial_bounds)]
impl ::siding::Tool for deploy
where
    Ctx<App>: ::siding::__private::Context,
{
    type State = ::siding::__private::StateOf<Ctx<App>>;
    fn definition() -> ::siding::__private::Definition {
        ::siding::__private::refused()
    }
    fn run<'a>(
        _: &mut ::siding::__private::Inputs<'a>,
        _: ::core::option::Option<&'a mut ::siding::Ctx<Self::State>>,
    ) -> ::core::option::Option<::siding::__private::Call<'a>> {
        ::siding::__private::refused()
    }
}
