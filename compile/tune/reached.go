package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
)

// errUnused is wrapped by the error for a build in which no compile used the profile, so that there
// is nothing to measure.
var errUnused = errors.New("no compile used the profile")

// reachedLog returns the path of the file to which "afdo exec --json" writes a line for each
// compile in a copy of the tree.
func (t *tuning) reachedLog(copied string) string { return copied + ".json" }

// A compile is what "afdo exec --json" reports about one compile of the build. Each line of the
// file that [tuning.reachedLog] names contains one.
type compile struct {
	Outcome driver.Outcome `json:"outcome"`
	Reason  command.Reason `json:"reason"`
	Error   string         `json:"error"`
}

// reached reads how many compiles the build with the profile ran, and how many of them used the
// profile. The error is errUnused if none did.
func (t *tuning) reached() (used, all int, err error) {
	log := t.reachedLog(t.fast)
	data, err := files.ReadFile(log, maxOwn)
	if err != nil {
		return 0, 0, fmt.Errorf("tune: %w: the build ran no compiler of GCC or clang", errUnused)
	}
	reasons := make(map[string]int)
	for line := range bytes.Lines(data) {
		var c compile
		if err := json.Unmarshal(line, &c); err != nil {
			return 0, 0, fmt.Errorf("tune: %s: %w", log, err)
		}
		if c.Outcome == driver.OutcomeAsItIs && slices.Contains(notCompiles, c.Reason) {
			continue
		}
		all++
		switch c.Outcome {
		case driver.OutcomeSliced, driver.OutcomeSame, driver.OutcomeUpToDate, driver.OutcomeRestored, driver.OutcomeWhole:
			used++
		case driver.OutcomeNothing:
			reasons["the profile has no samples of its functions"]++
		default:
			reasons[string(c.Reason)+c.Error]++
		}
	}
	if used > 0 {
		return used, all, nil
	}
	if all == 0 {
		return 0, 0, fmt.Errorf("tune: %w: GCC and clang only linked the program, which is written in another language or was compiled before", errUnused)
	}
	var said []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		said = append(said, fmt.Sprintf("%d: %s", reasons[reason], reason))
	}
	return 0, all, fmt.Errorf("tune: %w: of %d compiles, %s", errUnused, all, strings.Join(said, "; "))
}

// notCompiles are the reasons of commands that compile nothing.
var notCompiles = []command.Reason{command.AsksCompiler, command.OnlyPreprocesses, command.OnlyChecks, command.CompilesNothing, command.Trial}
