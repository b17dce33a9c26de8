package symbolize

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"strconv"
	"strings"
)

// GCC turns the body of a coroutine into two functions: the actor, which runs the body, and a
// function that destroys the frame of the coroutine. Debug info has no line of declaration for
// these functions. GCC counts their lines from the declaration of the coroutine. Their symbols end
// with the name of the frame's type, after its length, and the word ".actor" or ".destroy", for
// example _Z7numbersP17_Z7numbersl.Frame.actor.

const (
	frameType  = ".Frame"
	actorWord  = ".actor"
	destroyEnd = frameType + ".destroy"
)

// coroutineOf returns the linkage names of a coroutine and of its actor. symbol is one of the two
// functions that GCC makes from the coroutine. For any other symbol, both results are empty.
func coroutineOf(symbol string) (coroutine, actor string) {
	symbol = strings.TrimSuffix(symbol, ".cold")
	rest, ok := strings.CutSuffix(symbol, frameType+actorWord)
	if !ok {
		if rest, ok = strings.CutSuffix(symbol, destroyEnd); !ok {
			return "", ""
		}
	}
	for i := 0; i < len(rest); i++ {
		digits := 0
		for i+digits < len(rest) && rest[i+digits] >= '0' && rest[i+digits] <= '9' {
			digits++
		}
		if name := rest[i+digits:]; digits > 0 && rest[i:i+digits] == strconv.Itoa(len(name)+len(frameType)) {
			return name, rest + frameType + actorWord
		}
	}
	return "", ""
}

// declareActors copies the declaration of a coroutine to the functions that GCC made from it. It
// does so for the instance i in the code of the symbol target, and for the callers of i, because
// these functions may be inlined into each other: the actor and the function that destroys the
// frame into one another, and the actor into the coroutine.
func (w *worker) declareActors(i *Instance, target Symbol) error {
	if i == nil || w.llvm {
		return nil
	}
	coroutine, actor := coroutineOf(target.Names[0])
	for ; i != nil; i = i.Caller {
		f := i.Function
		if !f.isUndeclared() {
			continue
		}
		var err error
		switch {
		case coroutine != "":
			err = w.declareActor(f, coroutine, actor)
		case i.Caller != nil && f.isNamedLike(i.Caller.Function):
			err = w.declareBegun(f, i.Caller.Function)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// declareActor copies the declaration of a coroutine in the current unit to function f, if f has
// the name of the coroutine. coroutine and actor are linkage names: of the coroutine, and of the
// actor, which is the function that GCC made from its body.
func (w *worker) declareActor(f *Function, coroutine, actor string) error {
	linked, err := w.linked(w.current)
	if err != nil {
		return err
	}
	if d := linked[coroutine]; d != nil && f.isNamedLike(d) {
		f.declareLike(d, actor)
	}
	return nil
}

// declareBegun copies the declaration of a coroutine to function f, which is inlined into the
// coroutine, if the binary has an actor of this coroutine. f is then the actor, the function that
// GCC made from the body of the coroutine.
func (w *worker) declareBegun(f, coroutine *Function) error {
	actors, err := w.file.symbols.actorsOf()
	if err != nil {
		return err
	}
	if actor := actors[coroutine.Linkage()]; actor != "" {
		f.declareLike(coroutine, actor)
	}
	return nil
}

// isNamedLike reports whether f has the name of a coroutine. The template arguments of the
// coroutine's name do not count, because GCC omits them in the names of functions that it makes
// from a coroutine.
func (f *Function) isNamedLike(coroutine *Function) bool {
	rest, ok := strings.CutPrefix(coroutine.Name, f.Name)
	return ok && (rest == "" || rest[0] == '<')
}

// declareLike copies the position of the declaration of function d to f. It sets the linkage name
// of f to linkage if f has none.
func (f *Function) declareLike(d *Function, linkage string) {
	f.Line, f.File = d.Line, d.File
	f.LinkageName = cmp.Or(f.LinkageName, linkage)
}

// readActors returns the linkage names of all actors in the symbol table, by the linkage name of
// their coroutine.
func (t *symbolTable) readActors() (map[string]string, error) {
	var r reading
	actors := make(map[string]string)
	for i := range t.rows {
		name, err := t.name(&r, i)
		if err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(name, []byte(actorWord)) {
			continue
		}
		if coroutine, actor := coroutineOf(string(name)); coroutine != "" {
			actors[coroutine] = actor
		}
	}
	return actors, nil
}

// linked returns the functions that debug info declares in unit u, by linkage name. u must be the
// current unit.
func (w *worker) linked(u *dwarfUnit) (map[string]*Function, error) {
	if u.linked != nil {
		return u.linked, nil
	}
	var refs []dieRef
	c := w.unitCursor()
	err := eachEntry(c, u, 0, func(off uint64, a *abbrev, _ int) (int, error) {
		if a.tag == dwarf.TagSubprogram && (a.has(slotDeclLine) || a.has(slotSpecification)) {
			refs = append(refs, dieRef{u.data, off})
		}
		c.skipEntry(a, u.encoding)
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]*Function)
	for _, ref := range refs {
		f, err := w.function(ref, 0)
		if err != nil {
			return nil, err
		}
		if known := found[f.Linkage()]; known == nil || known.Line == 0 {
			found[f.Linkage()] = f
		}
	}
	u.linked = found
	return found, nil
}
