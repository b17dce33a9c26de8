package cxx

import (
	"strings"
	"sync"
)

// MayBeCalledByGCC reports whether GCC may call a function of the C library, or of its own runtime,
// that the text does not mention: it calls putchar for printf, memset for a loop, sqrtf for a
// vector of square roots. A text may define such a function itself.
func MayBeCalledByGCC(name string) bool {
	if strings.HasPrefix(name, "__") {
		return true
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_unlocked"), "_r")
	for _, suffix := range [...]string{"", "f", "l", "f16", "f32", "f64", "f128", "f32x", "f64x", "f128x"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && called()[base] {
			return true
		}
	}
	return false
}

// called are the functions that GCC's builtins.def lists and the compiler may call by itself,
// without suffixes for types.
var called = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	for name := range strings.FieldsSeq(`
		abort aligned_alloc alloca bcmp bcopy bzero calloc exit ffs fprintf fputc fputs free fwrite index malloc memchr
		memcmp memcpy memmove mempcpy memset printf putchar puts realloc rindex snprintf sprintf stpcpy stpncpy strcat
		strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy strndup strnlen strpbrk strrchr strspn strstr
		vfprintf vprintf vsnprintf vsprintf
		abs acos acosh asin asinh atan atan2 atanh cabs cacos carg cbrt ceil cexp cexpi cimag clog conj copysign cos cosh
		cpow cproj creal csqrt drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma
		hypot iceil ifloor ilogb imaxabs irint iround isfinite isinf isnan isnormal j0 j1 jn labs lceil ldexp lfloor lgamma
		llabs llceil llfloor llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward
		popcount pow pow10 powi remainder remquo rint round roundeven scalb scalbln scalbn signbit significand sin sincos
		sinh sqrt tan tanh tgamma trunc y0 y1 yn`) {
		names[name] = true
	}
	return names
})
