package kind

import "github.com/go-afdo/afdo/internal/cli"

// A Loss is a number of values of one kind, such as symbols, that were left out because a profile
// in memory cannot hold them.
type Loss struct {
	What string // such as "sections of unknown types"
	N    uint64
}

// Losses adds up the losses of several files that were loaded.
type Losses struct {
	all []Loss
	err error // error of a file whose losses could not be counted
}

// Add adds the losses of one file. err is an error of counting them.
func (l *Losses) Add(losses []Loss, err error) {
	if err != nil {
		l.err = err
	}
	for _, loss := range losses {
		l.add(loss)
	}
}

func (l *Losses) add(loss Loss) {
	for i := range l.all {
		if l.all[i].What == loss.What {
			l.all[i].N += loss.N
			return
		}
	}
	l.all = append(l.all, loss)
}

// Tell prints a warning for each kind of value that was left out, with the number of these values.
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

// StartCount starts to count the losses of a file in the background. losses is [Loaded.Losses] and
// may be nil. The returned function waits for the result and prints it, as [Losses.Tell] does.
func StartCount(losses func() ([]Loss, error)) (tell func(*cli.Env)) {
	var l Losses
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		if losses != nil {
			l.Add(losses())
		}
	}()
	return func(e *cli.Env) {
		<-counted
		l.Tell(e)
	}
}
