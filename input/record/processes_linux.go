package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/steps"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// procFS is the file system with information about processes.
const procFS = "/proc"

// threadsOf returns the IDs of a process's threads.
func threadsOf(pid int) ([]int, error) {
	list, err := steps.Numbers(filepath.Join(procFS, strconv.Itoa(pid), "task"))
	if gone(err) || err == nil && len(list) == 0 {
		return nil, fmt.Errorf("record: no process %d: %w", pid, unix.ESRCH)
	}
	return list, err
}

// gone reports whether an error of reading /proc means that the process has ended.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// addRunning writes records about the target's processes that run already when the recording
// begins: the names of their threads, and their mappings.
func (r *Recorder) addRunning(s *sink) error {
	pids := []int{r.target.PID}
	if r.target.Machine {
		var err error
		if pids, err = steps.Numbers(procFS); err != nil {
			return err
		}
	}
	for _, pid := range pids {
		if err := addProcess(s, pid); err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		// The rings may fill up in the meantime, so read them. This is not a round: samples must
		// wait until the records of their process have been added.
		if err := s.drain(r.rings); err != nil {
			return err
		}
	}
	return nil
}

// addProcess writes records with the names of a process's threads, and records of its mappings.
func addProcess(s *sink, pid int) error {
	threads, err := threadsOf(pid)
	if err != nil {
		return err
	}
	var maps []byte
	var root string
	for _, thread := range threads {
		folder := filepath.Join(procFS, strconv.Itoa(pid), "task", strconv.Itoa(thread))
		name, err := os.ReadFile(filepath.Join(folder, "comm"))
		if err != nil {
			continue // the thread has ended
		}
		if len(maps) == 0 { // so are those of a main thread that has ended
			maps, _ = os.ReadFile(filepath.Join(folder, "maps"))
			root = filepath.Join(folder, "root")
		}
		comm := perfdata.Comm{PID: int32(pid), TID: int32(thread), Name: strings.TrimSuffix(string(name), "\n")}
		if err := s.add(&comm); err != nil {
			return err
		}
	}
	for line := range strings.Lines(string(maps)) {
		m, ok := steps.ParseMapping(strings.TrimSuffix(line, "\n"))
		if !ok {
			continue
		}
		m.PID, m.TID = int32(pid), int32(pid)
		m.BuildID = buildIDOf(root, m.Path)
		if err := s.add(&m); err != nil {
			return err
		}
	}
	return nil
}
