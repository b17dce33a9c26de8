package rebase

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// compilerText has functions of every kind for which a compiler records a declaration.
const compilerText = `#include <stdlib.h>
#define API __attribute__((visibility("default")))
#define NAMED(type) type
namespace shop {
template <class T, int N = (3)>
struct Pool {
	T items[N];
	int n = 0;
	Pool()
		: n(0)
	{
		items[0] = T();
	}
	~Pool() { n = -1; }
	T &operator[](int i) { return items[i % N]; }
	operator bool() const {
		return n > 0;
	}
};
class Cart {
public:
	explicit Cart(int n);
	int total(int vat) const;
	static int count(const char *s);
private:
	Pool<int> pool;
	int n;
};
Cart::Cart(int n) : pool{}, n(n) {
	pool[n] = n;
}
#ifdef NEVER
int Cart::total(int vat, int more) const {
#else
API int
Cart::total(int vat) const
{
#endif
	auto add = [vat](int a)
	{
		return a + vat;
	};
	return add(n);
}
static NAMED(int) twice(int a) { return 2 * a; }
int Cart::count(const char *s) { return twice(atoi(s)); }
}
extern "C" int (first)(int a)
{
	return a + 1;
}
int main(int argc, char **argv) {
	shop::Cart c(argc);
	shop::Pool<long, 7> p;
	p[1] = c.total(3);
	return p ? shop::Cart::count(argv[0]) : first(argc);
}
`

// TestDeclarationsOfCompilers compares the functions found in the text with the declarations in
// compilers' debug info, by line.
func TestDeclarationsOfCompilers(t *testing.T) {
	for _, name := range []string{"g++", "g++-16", "clang-22"}[:testenv.Rounds(1, 3)] {
		t.Run(name, func(t *testing.T) {
			compiler := testenv.Tool(t, name)
			dir := t.TempDir()
			source, binary := filepath.Join(dir, "cart.cc"), filepath.Join(dir, "cart.o")
			require.NoError(t, os.WriteFile(source, []byte(compilerText), 0o666))
			out, err := exec.Command(compiler, "-g", "-O1", "-c", "-o", binary, source).CombinedOutput()
			require.NoError(t, err, "%s", out)
			f, err := symbolize.Open(binary)
			require.NoError(t, err)
			defer f.Close()
			declarations, err := Declarations(t.Context(), f)
			require.NoError(t, err)
			var s Sources
			s.AddFile(source, []byte(compilerText))
			s.Declare(declarations)
			found := 0
			for _, d := range declarations {
				if !strings.HasSuffix(d.File, "cart.cc") {
					continue
				}
				spelled := spell(d.Symbol)
				var exact, byName *function
				if list := s.declared[d.Symbol]; assert.NotEmpty(t, list, d.Symbol) {
					exact = list[0]
				}
				for _, g := range s.byName[spelled.name] {
					if g.name.Line == d.Line {
						byName = g
					}
				}
				if assert.NotNil(t, byName, "%s at %d is not found by the name %s", d.Symbol, d.Line, spelled.name) && exact != nil {
					assert.Equal(t, exact.name, byName.name, d.Symbol)
					found++
				}
			}
			assert.Greater(t, found, 8)
		})
	}
}
