// Package duel compares the processor times of two programs. It runs them in rounds. Each round
// runs both programs, in an order that is chosen at random.
//
// If the programs are equally fast, the random order makes each difference as likely as its
// opposite, whatever else the machine does. So the signed ranks of the differences give a valid
// test under any load. [Plan.Run] evaluates the differences up to four times, each time after twice
// as many rounds, and stops when the result is certain. All evaluations, and all comparisons of one
// plan, share [ErrorRate].
package duel

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"
)

// ErrorRate is the largest probability that two equally fast programs are reported as different.
const ErrorRate = 0.01

// Margin is the smallest relative difference that counts. Two copies of one program can differ by
// some tenths of a percent for as long as they stay in memory, because they are in different pages.
const Margin = 0.005

// Limits of the evaluations. The differences are first evaluated after as many rounds as fit in
// [Budget], but at least minFirst and at most maxFirst rounds. There are at most maxEvaluations. A
// later evaluation is left out if the rounds before it would take longer than maxTime.
const (
	Budget         = 10 * time.Second
	minFirst       = 12 // the fewest rounds that can decide with four evaluations and four comparisons
	maxFirst       = 50
	maxEvaluations = 4
	maxTime        = 5 * time.Minute
)

// busyRatio is the ratio of elapsed time to processor time above which the programs are assumed to
// compete with others for the processor.
const busyRatio = 1.25

// A Usage is the elapsed time and the processor time of one run of a program.
type Usage struct{ Wall, CPU time.Duration }

// A Plan has the options for comparing the times of two programs, such as the number of rounds.
type Plan struct {
	Rounds      int           // number of rounds; 0 means as many as are needed
	Budget      time.Duration // time until the first evaluation; 0 means [Budget]
	Comparisons int           // number of comparisons that share ErrorRate; 0 means 1

	// Doubtful reports whether a relative change of the time contradicts other evidence. Such a
	// change has to be confirmed by the next evaluation. nil means that there is no other evidence.
	Doubtful func(change float64) bool

	// Round is called before each round with the number of completed rounds and the number of
	// rounds at the next evaluation. It may be nil.
	Round func(done, planned int)

	coin func() int // returns 0 or 1; nil means at random
}

// A Result has the times of both programs in all rounds except the first, which warms up.
type Result struct {
	Before, After []Usage
	Alpha         float64 // share of ErrorRate for each evaluation
	Busy          bool    // the programs waited for the processor, or for something else
}

// An Estimate is the relative change of a time from the first program to the second, such as -0.1
// for 10 % less, with its confidence interval. The interval is unbounded if there are too few
// rounds.
type Estimate struct{ Change, Low, High float64 }

// Decides returns -1 if the time is certainly shorter, 1 if it is certainly longer, and 0 if
// neither is certain.
func (e Estimate) Decides() int {
	switch {
	case e.High < -Margin:
		return -1
	case e.Low > Margin:
		return 1
	}
	return 0
}

// settled reports whether more rounds are useless, because the times certainly differ by less than
// Margin.
func (e Estimate) settled() bool { return e.Low > -Margin && e.High < Margin }

// Run compares two programs. It calls run with 0 or 1 to run the first or the second program, which
// returns the times of that run. It never runs both at the same time.
func (p *Plan) Run(run func(which int) (Usage, error)) (*Result, error) {
	r := new(Result)
	var warm [2]Usage
	if err := p.round(run, &warm); err != nil {
		return nil, err
	}
	evaluations := p.evaluations(warm[0].Wall + warm[1].Wall)
	r.Alpha = ErrorRate / float64(max(p.Comparisons, 1)*len(evaluations))
	for i, confirmed := 0, false; i < len(evaluations); i++ {
		for len(r.Before) < evaluations[i] {
			if p.Round != nil {
				p.Round(len(r.Before), evaluations[i])
			}
			var took [2]Usage
			if err := p.round(run, &took); err != nil {
				return nil, err
			}
			r.Before, r.After = append(r.Before, took[0]), append(r.After, took[1])
		}
		r.Busy = r.waited() > busyRatio
		cpu := r.CPU()
		decided := cpu.Decides() != 0
		if cpu.settled() || decided && (confirmed || !r.Busy && (p.Doubtful == nil || !p.Doubtful(cpu.Change))) {
			break
		}
		confirmed = decided
	}
	return r, nil
}

// round runs both programs once, in random order, and stores their times in took.
func (p *Plan) round(run func(which int) (Usage, error), took *[2]Usage) (err error) {
	first := rand.IntN(2)
	if p.coin != nil {
		first = p.coin()
	}
	for _, which := range []int{first, 1 - first} {
		if took[which], err = run(which); err != nil {
			return err
		}
	}
	return nil
}

// evaluations returns the numbers of rounds after which Run evaluates the differences. pair is the
// time of one round. The numbers must not depend on the differences, or the test would not be
// valid.
func (p *Plan) evaluations(pair time.Duration) []int {
	if p.Rounds > 0 {
		return []int{p.Rounds}
	}
	n := int(min(max(cmp.Or(p.Budget, Budget)/max(pair, 1), minFirst), maxFirst))
	evaluations := []int{n}
	for n *= 2; len(evaluations) < maxEvaluations && time.Duration(n)*pair <= maxTime; n *= 2 {
		evaluations = append(evaluations, n)
	}
	return evaluations
}

// CPU returns the change of the processor time from the first program to the second.
func (r *Result) CPU() Estimate { return r.estimate(func(u Usage) time.Duration { return u.CPU }) }

// Wall returns the change of the elapsed time from the first program to the second.
func (r *Result) Wall() Estimate { return r.estimate(func(u Usage) time.Duration { return u.Wall }) }

// estimate returns the relative change of a time from the first program to the second, with its
// confidence interval. of selects the time: the processor time or the elapsed time of a run.
func (r *Result) estimate(of func(Usage) time.Duration) Estimate {
	var ratios []float64
	for i := range r.Before {
		if b, a := of(r.Before[i]), of(r.After[i]); b > 0 && a > 0 {
			ratios = append(ratios, math.Log(float64(a)/float64(b)))
		}
	}
	middle, low, high := signedRank(ratios, r.Alpha)
	return Estimate{math.Expm1(middle), math.Expm1(low), math.Expm1(high)}
}

// waited returns the median of elapsed time divided by processor time over all runs.
func (r *Result) waited() float64 {
	var ratios []float64
	for _, u := range append(r.Before[:len(r.Before):len(r.Before)], r.After...) {
		ratios = append(ratios, float64(u.Wall)/float64(max(u.CPU, 1)))
	}
	return Median(ratios)
}
