package symbolize

import (
	"container/heap"
	"sync"
)

// A job is a unit and the symbols to be resolved in it.
type job struct {
	unit     unitSpan
	number   int
	symbols  []int32
	unlisted bool // the symbols of the unit are unknown
}

// A queue holds jobs that no worker has taken. It returns the largest unit first, so that no long
// job is left for the end.
type queue struct {
	mu    sync.Mutex
	more  sync.Cond
	jobs  jobHeap
	ended bool
}

func newQueue() *queue {
	q := &queue{}
	q.more.L = &q.mu
	return q
}

func (q *queue) add(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	heap.Push(&q.jobs, j)
	q.more.Signal()
}

// end declares that no more jobs will be added.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Broadcast()
}

// take waits for a job. It returns false if there are no more.
func (q *queue) take() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) == 0 && !q.ended {
		q.more.Wait()
	}
	if len(q.jobs) == 0 {
		return job{}, false
	}
	return heap.Pop(&q.jobs).(job), true
}

// A jobHeap is a heap of jobs, the largest unit first.
type jobHeap []job

func (h jobHeap) Len() int           { return len(h) }
func (h jobHeap) Less(i, j int) bool { return h[i].size() > h[j].size() }
func (h jobHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *jobHeap) Push(x any)        { *h = append(*h, x.(job)) }
func (h *jobHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func (j job) size() uint64 { return j.unit.end - j.unit.off }
