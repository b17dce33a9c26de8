// Functions whose mangled names have types that depend on template parameters: what stands before ::
// there may be a typedef, an alias, or a template of aliases.
template <class T> struct Value {
	T t;
	typedef T type;
};

struct Typedefs {
	typedef Value<int> InTypedef;
	using InAlias = Value<int>;
	template <class U> using InTemplate = Value<U>;
	template <class U> struct Member {
		typedef Value<U> InMember;
	};
};

template <class C> typename C::InTypedef::type byTypedef(C) { return 1; }
template <class C> typename C::InAlias::type byAlias(C) { return 2; }
template <class C> typename C::template InTemplate<int>::type byTemplate(C) { return 3; }
template <class C> typename C::template Member<int>::InMember::type byMember(C) { return 4; }

namespace space {
template <class T> struct Traits {
	typedef Value<T> InTraits;
	struct Part {
		typedef Value<T> InPart;
	};
};
template <class T, class U = T> using Chosen = typename Traits<U>::InTraits;
template <class T, class... U> using Packed = Traits<T>;
template <class T>
	requires(sizeof(T) > 1)
using Required = typename Traits<T>::Part;
} // namespace space

template <class T> typename space::Traits<T>::InTraits::type byTraits(T, typename space::Traits<T>::InTraits::type) { return 5; }
template <class T> typename space::Traits<T>::Part::InPart::type byPart(T) { return 6; }
template <class T> typename space::Chosen<T>::type byChosen(T) { return 7; }
template <class T> typename space::Packed<T>::InTraits::type byPacked(T) { return 8; }
template <class T> typename space::Required<T>::InPart::type byRequired(T) { return 9; }
template <template <class> class X, class T> typename X<T>::InTraits::type byArgument(T) { return 10; }

template <class C, class D = typename C::InTypedef::type> struct Defaulted {
	int get(C) { return 11; }
	template <class E> int get(E, typename E::InAlias::type *) { return 12; }
	template <class E> operator Value<E>() { return {}; }
};

template <class C> auto byExpression(C c) -> decltype(c.t.InTypedef) { return c.t.InTypedef; }
struct Field {
	int InTypedef;
};

template <class T>
concept Fits = requires(T t) { typename T::InAlias::type; };
template <Fits C> int constrained(C) { return 13; }
template <class C>
	requires Fits<C>
int constrainedToo(C, typename C::InAlias::type) { return 14; }
int abbreviated(Fits auto) { return 15; }

template <auto N> struct Number {
	static int get() { return sizeof(N); }
};
enum Plain { plain };
enum class Scoped { scoped };
struct Literal {
	int a;
};

int use()
{
	Typedefs t;
	Defaulted<Typedefs> d;
	int x = 0;
	return byTypedef(t) + byAlias(t) + byTemplate(t) + byMember(t) + byTraits(1, 2) + byPart(1) + byChosen(1) + byPacked(1) +
	       byRequired(1) + byArgument<space::Traits>(1) + d.get(t) + d.get(t, &x) + Value<int>(d).t +
	       byExpression(Value<Field>()) + constrained(t) + constrainedToo(t, 1) + abbreviated(t) + Number<plain>::get() +
	       Number<Scoped::scoped>::get() + Number<Literal{1}>::get() + Number<&Field::InTypedef>::get();
}
