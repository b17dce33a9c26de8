package steps

import "math/rand/v2"

// A schedule decides when the next burst starts. All times are in nanoseconds.
//
// At random times, called moments, the tracer looks for a running thread. If it finds one, it
// starts a burst. Moments are a Poisson process: the time to the next one does not depend on what
// the program does, so all code is sampled in proportion to its time. The mean distance of moments
// follows from the cost of a burst and from the budget, which is a share of the time in which at
// least one thread ran.
type schedule struct {
	overhead float64 // share of the running time that stops may take
	random   *rand.Rand
	next     int64   // time of the next moment
	last     int64   // time of the last moment
	cost     float64 // moving average of the cost of a burst
	hits     float64 // moving average of the share of moments that became bursts, if a thread ran
	busy     float64 // time in which a thread ran, as far as moments have seen
	spent    float64 // time of bursts
	other    float64 // time of other stops
}

const (
	// firstCost is the assumed cost of the first burst, in nanoseconds.
	firstCost = 0.3e6

	// firstWithin is when the first burst starts at the latest, so that a short program is recorded
	// at all.
	firstWithin = 6e6

	// costShare is the weight of the latest burst in the moving average schedule.cost.
	costShare = 0.1

	// hitShare is the weight of the latest moment in the moving average schedule.hits.
	hitShare = 0.02

	// minHits limits how much more often the tracer looks for a running thread if few attempts lead
	// to a burst: at most four times as often. An attempt takes about 100 us of the tracer's
	// processor time.
	minHits = 0.25

	// minDistance is the shortest time between two moments, in nanoseconds.
	minDistance = 200e3
)

func newSchedule(overhead float64, random *rand.Rand, now int64) schedule {
	s := schedule{overhead: overhead, random: random, cost: firstCost, hits: 1, last: now}
	s.next = now + int64(s.random.Float64()*firstWithin)
	return s
}

// add charges the cost of a burst, in nanoseconds, to the budget, and chooses the time of the next
// moment. A moment is a time at which the tracer looks for a running thread.
func (s *schedule) add(now int64, cost float64) {
	s.spent += cost
	s.cost += costShare * (cost - s.cost)
	s.ran(now, 1)
}

// miss chooses the time at which the tracer next looks for a running thread, after a time at which
// it found one but recorded no burst. Either the thread could not be stopped, or the burst was
// skipped at random because fewer threads ran than at other times. Such skipping gives each running
// thread the same number of bursts.
func (s *schedule) miss(now int64) { s.ran(now, 0) }

func (s *schedule) ran(now int64, hit float64) {
	s.busy += float64(now - s.last)
	s.hits += hitShare * (hit - s.hits)
	s.plan(now)
}

// charge charges to the budget the cost, in nanoseconds, of stopping a thread for another reason
// than a burst, for example a signal.
func (s *schedule) charge(cost float64) { s.other += cost }

// plan chooses at random the next time at which the tracer looks for a running thread. The mean
// distance follows from the cost of a burst and the budget.
func (s *schedule) plan(now int64) {
	s.last = now
	mean := s.cost / s.overhead * max(minHits, s.hits)
	distance := max(minDistance, s.random.ExpFloat64()*mean)
	budget := s.overhead * s.busy
	if debt := s.spent + min(s.other, maxOther*budget) - budget - s.cost; debt > 0 {
		distance += debt / s.overhead / debtSpread
	}
	s.next = now + int64(distance)
}

// maxOther limits the share of the budget that stops outside of bursts can use up. These stops are
// needed to follow a program. Without the limit, a program that starts many processes, or gets many
// signals, would not be recorded at all. With it, such a program is slowed down by more than the
// budget.
const maxOther = 0.75

// debtSpread is the number of moments over which time beyond the budget is paid back. If it were
// paid back at once, no burst would reach the code that runs after an expensive burst.
const debtSpread = 4
