package doccheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestUsers runs the scripts in docs/guide/users, one for each kind of user, and checks what they
// print.
func TestUsers(t *testing.T) {
	testenv.NeedSweep(t) // they build the command
	sh := testenv.Tool(t, "sh")
	for _, c := range []struct {
		script string
		tools  []string
		says   []string
	}{
		{"build-engineer", []string{"gcc"}, []string{"words.o.afdo", "table.o.afdo", "words.o.afdo is up to date", "up to date"}},
		{"performance-engineer", nil, []string{"src/cart.cc", "shop::Cart::clear", "week.html", "week.pb.gz"}},
		{"library-user", nil, []string{"v4c 107300027 src/main.cc main", "v2 107300027  main", "profdata 107  twice"}},
	} {
		t.Run(c.script, func(t *testing.T) {
			for _, tool := range append(c.tools, "go") {
				testenv.Tool(t, tool)
			}
			cmd := exec.Command(sh, filepath.Join(root, "docs/guide/users", c.script+".sh"))
			cmd.Env = append(os.Environ(), "AFDO_PROFILE=")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for _, text := range c.says {
				assert.Contains(t, string(out), text)
			}
			assert.Contains(t, read(t, "docs/reference/verbs.md"), "guide/users/"+c.script+".sh")
		})
	}
}
