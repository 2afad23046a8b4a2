//! The keywords of each language.

/// A list of words without quotes.
macro_rules! words {
    ($($word:ident)*) => { &[$(stringify!($word)),*] };
}

pub const CPP: &[&str] = words![
    alignas alignof and auto bool break case catch char char16_t char32_t char8_t class co_await
    co_return co_yield concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern final float for
    friend goto if import inline int int16_t int32_t int64_t int8_t long module mutable
    namespace new noexcept not operator or override private protected public register
    reinterpret_cast requires restrict return short signed size_t sizeof ssize_t static
    static_assert static_cast struct switch template this thread_local throw try typedef typeid
    typename typeof uint16_t uint32_t uint64_t uint8_t union unsigned using virtual void
    volatile wchar_t while
];

pub const CSHARP: &[&str] = words![
    abstract as async await base bool break byte case catch char checked class const continue
    decimal default delegate do double dynamic else enum event explicit extern finally fixed
    float for foreach get goto if implicit in init int interface internal is lock long namespace
    new nint not object operator or out override params partial private protected public
    readonly record ref required return sbyte sealed set short sizeof stackalloc static string
    struct switch this throw try typeof uint ulong unchecked unsafe ushort using var virtual
    void volatile when where while with yield
];

pub const DOCKER: &[&str] = words![
    ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN
    SHELL STOPSIGNAL USER VOLUME WORKDIR
];

pub const GO: &[&str] = words![
    any bool break byte case chan complex128 complex64 const continue default defer else error
    fallthrough float32 float64 for func go goto if import int int16 int32 int64 int8 interface
    map package range return rune select string struct switch type uint uint16 uint32 uint64
    uint8 uintptr var
];

pub const JAVA: &[&str] = words![
    abstract assert async await boolean break byte case catch char class const continue def
    default do double else enum exports extends final finally float for get goto if implements
    import in instanceof int interface late long module native new package permits private
    protected public record required requires return sealed set short static strictfp super
    switch synchronized this throw throws transient try var void volatile while with yield
];

pub const JAVASCRIPT: &[&str] = words![
    as async await break case catch class const continue debugger default delete do else export
    extends finally for from function get if import in instanceof let new of return set static
    super switch this throw try typeof var void while with yield
];

pub const KOTLIN: &[&str] = words![
    abstract actual annotation as async await break by case catch class companion const
    constructor continue crossinline data def defer deinit do else enum expect extends extension
    external fileprivate final finally for fun func get given guard if implicit import in infix
    init inline inner inout interface internal is lateinit lazy let match mutating new noinline
    object open operator out override package private protected protocol public reified repeat
    return sealed self set static struct super suspend switch tailrec this throw throws trait try
    type typealias unowned val var vararg weak when where while with yield
];

pub const PHP: &[&str] = words![
    abstract and array as bool break callable case catch class clone const continue declare
    default do echo else elseif empty endfor endforeach endif endswitch endwhile enum extends
    final finally float fn for foreach function global goto if implements include include_once
    instanceof insteadof int interface isset list match mixed namespace never new object or
    parent print private protected public readonly require require_once return self static
    string switch throw trait try unset use var void while xor yield
];

pub const PYTHON: &[&str] = words![
    and as assert async await break case class continue def del elif else except finally for
    from global if import in is lambda match nonlocal not or pass raise return try while with
    yield
];

pub const RUBY: &[&str] = words![
    BEGIN END alias and attr_accessor attr_reader attr_writer begin break case class def defined
    do else elsif end ensure extend for if in include loop module next not or prepend private
    protected public raise redo require require_relative rescue retry return self super then
    undef unless until when while yield
];

pub const RUST: &[&str] = words![
    Self as async await break const continue crate dyn else enum extern fn for if impl in let
    loop macro_rules match mod move mut pub ref return self static struct super trait type union
    unsafe use where while yield
];

pub const SHELL: &[&str] = words![
    case coproc do done elif else esac fi for function if select then time until while
];

pub const SQL: &[&str] = words![
    add all alter analyze and any as asc auto_increment autoincrement begin between bigint blob
    boolean by cascade case char check coalesce collate column commit concurrently conflict
    constraint create cross current_date current_timestamp cursor database date declare default
    delete desc describe distinct do drop else elsif end except exec execute exists explain
    extension fetch float for foreign from full function grant group having if ilike in index
    inner insert int integer intersect interval into is join json jsonb key language lateral
    left like limit loop materialized natural not nothing numeric of offset on or order outer
    over partition pragma primary procedure real recursive references rename replace restrict
    returning returns revoke right rollback row rows savepoint schema select sequence serial set
    show smallint table temp temporary text then time timestamp timestamptz to transaction
    trigger truncate union unique update upsert use using uuid vacuum values varchar view when
    where while window with without
];

pub const TYPESCRIPT: &[&str] = words![
    abstract any as asserts async await boolean break case catch class const continue debugger
    declare default delete do else enum export extends finally for from function get if
    implements import in infer instanceof interface is keyof let namespace never new number
    object of override private protected public readonly return satisfies set static string
    super switch this throw try type typeof unknown var void while with yield
];

/// The word after one of these is a name.
pub const DEFINERS: &[&str] = words![
    class concept data def enum extension fn fun func function interface macro_rules mod module
    namespace object package protocol record struct trait type typealias
];
