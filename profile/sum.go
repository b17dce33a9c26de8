package profile

import (
	"fmt"
	"runtime"
	"sync"
)

const (
	maxWorkers = 64 // of Sum: each may hold as much memory as the result
	maxBatch   = 64 // inputs that a worker merges before it hands them over: 16 took a tenth more time in all
)

// Sum merges n profiles that load returns by number, each scaled by its weight, as
// [Profile.MergeScaled] does it. The result, its numbering included, is what merging them one by
// one in order gives, however the work is scheduled.
//
// load is called once for each number, from several goroutines at a time, as
// many as there are processors and one more, and at most 64. Each works on a few
// profiles in a row, which it drops as soon as they are merged. So what is held in
// memory is bounded by the result and not by the inputs together: for each goroutine
// an input and a sum of at most 64, which is never larger than the result.
//
// The error is the one of the lowest number that has any. No load is running any more when Sum
// returns.
func Sum(n int, load func(i int) (*Profile, Ratio, error)) (*Profile, error) {
	// One more than there are processors: none of these is idle while a batch takes longer than
	// those behind it, or is merged.
	workers := max(1, min(runtime.GOMAXPROCS(0)+1, maxWorkers, n))
	s := summing{n: n, load: load, batch: min(max(n/(4*workers), 1), maxBatch), stop: make(chan struct{})}
	// As many batches are under way as the channel holds, and the one that is waited for or merged.
	parts := make(chan chan part, workers-1)
	s.running.Go(func() { s.start(parts) })
	defer s.running.Wait()
	defer close(s.stop)
	var sum *Profile
	for c := range parts {
		p := <-c
		switch {
		case p.err != nil:
			return nil, p.err
		case sum == nil:
			sum = p.sum
		default:
			sum.Merge(p.sum)
		}
	}
	if sum == nil {
		sum = New()
	}
	return sum, nil
}

type summing struct {
	n       int
	load    func(i int) (*Profile, Ratio, error)
	batch   int
	stop    chan struct{}
	running sync.WaitGroup
}

// A part is the sum of a batch.
type part struct {
	sum *Profile
	err error
}

// start has all batches worked on, in order, as fast as their sums are taken.
func (s *summing) start(parts chan<- chan part) {
	defer close(parts)
	for first := 0; first < s.n; first += s.batch {
		c := make(chan part, 1)
		select {
		case parts <- c:
		case <-s.stop:
			return
		}
		s.running.Go(func() { c <- s.sum(first, min(first+s.batch, s.n)) })
	}
}

// sum merges the inputs of a batch.
func (s *summing) sum(first, end int) part {
	sum := New()
	for i := first; i < end; i++ {
		select {
		case <-s.stop:
			return part{}
		default:
		}
		p, weight, err := s.load(i)
		if err == nil && weight.Den == 0 {
			err = fmt.Errorf("profile: input %d has the weight %d/0", i, weight.Num)
		}
		if err != nil {
			return part{err: err}
		}
		sum.MergeScaled(p, weight)
	}
	return part{sum: sum}
}
