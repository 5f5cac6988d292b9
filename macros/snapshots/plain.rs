#[allow(clippy::unused_async)]
async fn r#match(text: &str, times: Option<u8>) -> String {
    text.repeat(times.unwrap_or(1).into())
}
#[allow(non_camel_case_types)]
///The tool `echo.text`, to be registered with `Server::tool` or `tools!`.
struct r#match {}
#[automatically_derived]
#[allow(trivial_bounds)]
impl ::other::Tool for r#match {
    type State = ::other::__private::StateOf<::other::Ctx>;
    fn definition() -> ::other::__private::Definition {
        ::other::__private::Definition::new("echo.text", ::other::Mode::Forbidden)
    }
    fn run<'a>(
        inputs: &mut ::other::__private::Inputs<'a>,
        ctx: ::core::option::Option<&'a mut ::other::Ctx<Self::State>>,
    ) -> ::core::option::Option<::other::__private::Call<'a>> {
        #[allow(unused_imports)]
        use ::other::__private::{EncodePlain as _, PeelPlain as _};
        let output = ::other::__private::Probe::<String>::new().peel().output();
        inputs.returns(&output);
        let argument_0 = inputs.argument::<&str>(::other::__private::Arg::new("text"));
        let argument_1 = inputs
            .argument::<Option<u8>>(::other::__private::Arg::new("n"));
        let (
            ::core::option::Option::Some(_ctx),
            ::core::option::Option::Some(argument_0),
            ::core::option::Option::Some(argument_1),
        ) = (ctx, argument_0, argument_1) else {
            return ::core::option::Option::None;
        };
        ::core::option::Option::Some(
            ::other::__private::call(async move {
                output.finish(r#match(argument_0, argument_1).await)
            }),
        )
    }
}
