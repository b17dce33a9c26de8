package compile

import (
	"errors"
	"sync"
	"sync/atomic"
)

// inParallel calls do with each number below n, some at the same time. Once one has failed, no more
// are begun. It returns the errors, in the order of their numbers.
func inParallel(n, jobs int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	for range min(jobs, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
