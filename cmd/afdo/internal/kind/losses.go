package kind

import "github.com/go-afdo/afdo/internal/cli"

// A Loss is a kind of item that was left out, with the number of items.
type Loss struct {
	What string // such as "sections of unknown types"
	N    uint64
}

// Losses adds up what is lost when several files become profiles in memory.
type Losses struct {
	all []Loss
	err error // of one file that could not be counted
}

// Add adds what one file has.
func (l *Losses) Add(losses []Loss, err error) {
	if err != nil {
		l.err = err
	}
	for _, loss := range losses {
		l.add(loss)
	}
}

// Merge adds the counts of other losses.
func (l *Losses) Merge(other Losses) { l.Add(other.all, other.err) }

func (l *Losses) add(loss Loss) {
	for i := range l.all {
		if l.all[i].What == loss.What {
			l.all[i].N += loss.N
			return
		}
	}
	l.all = append(l.all, loss)
}

// Tell prints each kind of item that was left out on standard error, with the number of items.
func (l *Losses) Tell(e *cli.Env) {
	if l.err != nil {
		e.Warnf("unknown what was left out: %s", cli.Message(l.err))
	}
	for _, loss := range l.all {
		if loss.N > 0 {
			e.Warnf("%s that were left out: %d", loss.What, loss.N)
		}
	}
}

// A Count is the result of [StartCount], which counts the losses of a file in the background. They
// can be received from it once, when they are counted.
type Count <-chan Losses

// StartCount begins to count what [Loaded.Losses] does; nil counts nothing.
func StartCount(losses func() ([]Loss, error)) Count {
	counted := make(chan Losses, 1)
	if losses == nil {
		counted <- Losses{}
		return counted
	}
	go func() {
		var l Losses
		l.Add(losses())
		counted <- l
	}()
	return counted
}

// Tell waits until everything that the output lacks is counted, and prints the numbers on standard
// error, such as "sections of unknown types that were left out: 2".
func (c Count) Tell(e *cli.Env) {
	l := <-c
	l.Tell(e)
}
