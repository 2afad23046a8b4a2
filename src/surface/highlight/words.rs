//! The words of each language, in the order of their bytes.

/// Each word of a program is looked up here, so that the first letter has to leave few.
///
/// A slice of `&str` would be shorter to write, but each of them is an address that the loader has
/// to put right at every start of the program, and a start is all that most Stop hooks are.
#[derive(Debug)]
pub struct Words {
    /// Each behind a byte that says how long it is.
    packed: &'static [u8],
    /// Where those are that begin with this byte, or else with the next larger one.
    from: [u16; 129],
}

impl Words {
    const fn new(packed: &'static [u8]) -> Self {
        assert!(packed.len() <= u16::MAX as usize);
        let mut from = [0; 129];
        let (mut byte, mut at) = (0, 0);
        while byte < from.len() {
            while at < packed.len() && (packed[at + 1] as usize) < byte {
                at += 1 + packed[at] as usize;
            }
            #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
            let place = at as u16;
            from[byte] = place;
            byte += 1;
        }
        Self { packed, from }
    }

    pub fn has(&self, word: &[u8]) -> bool {
        let Some(first) = word.first().map(|byte| usize::from(*byte)).filter(|byte| *byte < 128)
        else {
            return false;
        };
        let alike = usize::from(self.from[first])..usize::from(self.from[first + 1]);
        words(&self.packed[alike]).any(|known| known == word)
    }

    #[cfg(test)]
    pub fn all(&self) -> Vec<&'static [u8]> {
        words(self.packed).collect()
    }
}

fn words(mut packed: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = packed.split_first()?;
        let (word, rest) = rest.split_at_checked(usize::from(*length))?;
        packed = rest;
        Some(word)
    })
}

/// From words with a space behind each: as long, with its length before it.
const fn packed<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let text = text.as_bytes();
    let mut packed = [0; LENGTH];
    let (mut start, mut at) = (0, 0);
    while at < LENGTH {
        if text[at] == b' ' {
            assert!(start < at && at - start <= u8::MAX as usize);
            #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
            let length = (at - start) as u8;
            packed[start] = length;
            start = at + 1;
        } else {
            packed[at + 1] = text[at];
        }
        at += 1;
    }
    packed
}

/// Words without all their quotes.
macro_rules! words {
    ($($word:ident)*) => {{
        const TEXT: &str = concat!($(stringify!($word), " "),*);
        const PACKED: &[u8] = &packed::<{ TEXT.len() }>(TEXT);
        Words::new(PACKED)
    }};
}

pub static C: Words = words![
    auto bool break case char const constexpr continue default do double else enum extern float
    for goto if inline int int16_t int32_t int64_t int8_t long register restrict return short
    signed size_t sizeof ssize_t static static_assert struct switch typedef typeof uint16_t
    uint32_t uint64_t uint8_t union unsigned void volatile while
];

pub static CPP: Words = words![
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

pub static CSHARP: Words = words![
    abstract as async await base bool break byte case catch char checked class const continue
    decimal default delegate do double dynamic else enum event explicit extern finally fixed
    float for foreach get goto if implicit in init int interface internal is lock long namespace
    new nint not object operator or out override params partial private protected public
    readonly record ref required return sbyte sealed set short sizeof stackalloc static string
    struct switch this throw try typeof uint ulong unchecked unsafe ushort using var virtual
    void volatile when where while with yield
];

pub static DOCKER: Words = words![
    ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN
    SHELL STOPSIGNAL USER VOLUME WORKDIR
];

pub static ELIXIR: Words = words![
    after alias and case catch cond def defdelegate defexception defguard defimpl defmacro
    defmacrop defmodule defp defprotocol defstruct do else end fn for if import in not or quote
    raise receive require rescue super throw try unless unquote use when with
];

pub static GO: Words = words![
    any bool break byte case chan complex128 complex64 const continue default defer else error
    fallthrough float32 float64 for func go goto if import int int16 int32 int64 int8 interface
    map package range return rune select string struct switch type uint uint16 uint32 uint64
    uint8 uintptr var
];

pub static HASKELL: Words = words![
    as case class data default deriving do else family forall foreign hiding if import in infix
    infixl infixr instance let mdo module newtype of pattern proc qualified rec then type where
];

pub static JAVA: Words = words![
    abstract assert async await boolean break byte case catch char class const continue def
    default do double else enum exports extends final finally float for get goto if implements
    import in instanceof int interface late long module native new package permits private
    protected public record required requires return sealed set short static strictfp super
    switch synchronized this throw throws transient try var void volatile while with yield
];

pub static JAVASCRIPT: Words = words![
    as async await break case catch class const continue debugger default delete do else export
    extends finally for from function get if import in instanceof let new of return set static
    super switch this throw try typeof var void while with yield
];

pub static KOTLIN: Words = words![
    abstract actual annotation as break by case catch class companion const constructor continue
    crossinline data def do else enum expect extends external final finally for fun get given if
    implicit import in infix init inline inner interface internal is lateinit lazy match new
    noinline object open operator out override package private protected public reified return
    sealed set super suspend tailrec this throw trait try type typealias val var vararg when
    where while with yield
];

pub static LUA: Words = words![
    and break do else elseif end for function goto if in local not or repeat return then until
    while
];

pub static MAKE: Words = words![
    define else endef endif export ifdef ifeq ifndef ifneq include override sinclude undefine
    unexport vpath
];

pub static PHP: Words = words![
    abstract and array as bool break callable case catch class clone const continue declare
    default do echo else elseif empty endfor endforeach endif endswitch endwhile enum extends
    final finally float fn for foreach function global goto if implements include include_once
    instanceof insteadof int interface isset list match mixed namespace never new object or
    parent print private protected public readonly require require_once return self static
    string switch throw trait try unset use var void while xor yield
];

pub static PYTHON: Words = words![
    and as assert async await break case class continue def del elif else except finally for
    from global if import in is lambda match nonlocal not or pass raise return try while with
    yield
];

pub static RUBY: Words = words![
    BEGIN END alias and attr_accessor attr_reader attr_writer begin break case class def defined
    do else elsif end ensure extend for if in include loop module next not or prepend private
    protected public raise redo require require_relative rescue retry return self super then
    undef unless until when while yield
];

pub static RUST: Words = words![
    Self as async await break const continue crate dyn else enum extern fn for if impl in let
    loop macro_rules match mod move mut pub ref return self static struct super trait type union
    unsafe use where while yield
];

pub static SHELL: Words = words![
    case coproc do done elif else esac fi for function if select then time until while
];

pub static SQL: Words = words![
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

pub static SWIFT: Words = words![
    Any Self actor any as associatedtype async await break case catch class continue convenience
    default defer deinit didSet do dynamic else enum extension fallthrough fileprivate final for
    func get guard if import in indirect infix init inout internal is isolated lazy let mutating
    nonisolated nonmutating open operator override postfix precedencegroup prefix private
    protocol public repeat required rethrows return self set some static struct subscript super
    switch throw throws try typealias unowned var weak where while willSet
];

pub static TYPESCRIPT: Words = words![
    abstract any as asserts async await boolean break case catch class const continue debugger
    declare default delete do else enum export extends finally for from function get if
    implements import in infer instanceof interface is keyof let namespace never new number
    object of override private protected public readonly return satisfies set static string
    super switch this throw try type typeof unknown var void while with yield
];

pub static ZIG: Words = words![
    addrspace align allowzero and anyframe anytype asm async await bool break callconv catch
    comptime const continue defer else enum errdefer error export extern f32 f64 fn for i16 i32
    i64 i8 if inline isize linksection noalias noinline noreturn nosuspend opaque or orelse
    packed pub resume return struct suspend switch test threadlocal try type u16 u32 u64 u8
    union unreachable usingnamespace usize var void volatile while
];

/// What comes behind these is a name.
pub static DEFINERS: Words = words![
    actor class concept data def defmacro defmodule defp defprotocol enum extension fn fun func
    function instance interface macro_rules mod module namespace newtype object package protocol
    record struct trait type typealias
];

pub static NONE: Words = words![];
