package record

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Environment returns a hash of the variables of an environment that affect the output of GCC and
// clang. Variables that only change messages are left out.
func Environment(env []string) uint64 { return hashOfEnvironment(env, readByCompilers) }

// WholeEnvironment returns a hash of all variables of an environment, except those that make and
// shells set anew for each command. It is for commands that run a script or another unknown
// program, which may read any variable.
func WholeEnvironment(env []string) uint64 {
	return hashOfEnvironment(env, func(name string) bool {
		return !slices.Contains([]string{"_", "OLDPWD", "SHLVL", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKE_TERMERR", "MAKE_TERMOUT"}, name)
	})
}

// hashOfEnvironment returns a hash of those variables of an environment for whose names wanted
// returns true. The hash is never 0.
func hashOfEnvironment(env []string, wanted func(name string) bool) uint64 {
	settings := slices.DeleteFunc(slices.Clone(env), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return !wanted(name)
	})
	slices.Sort(settings)
	return max(1, xxhash.Sum64String(strings.Join(settings, "\x00")))
}

// readByCompilers reports whether GCC or clang reads an environment variable that affects its
// output.
func readByCompilers(name string) bool {
	switch name {
	case "CPATH", "COMPILER_PATH", "SOURCE_DATE_EPOCH", "HOME", "SDKROOT", "XDG_CONFIG_HOME", "QA_OVERRIDE_GCC3_OPTIONS", "RC_DEBUG_OPTIONS", "POSIXLY_CORRECT":
		return true
	case "GCC_COLORS", "GCC_URLS":
		return false
	}
	for _, prefix := range []string{"CC_", "CCC_", "CLANG_", "CUDA_", "GCC_", "HIP_", "LD_", "LLVM_", "ROCM_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "_INCLUDE_PATH") || strings.HasSuffix(name, "_DEPLOYMENT_TARGET")
}
