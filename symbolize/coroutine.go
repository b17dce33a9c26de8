package symbolize

import (
	"bytes"
	"debug/dwarf"
	"strconv"
	"strings"
)

// GCC makes two functions of the body of a coroutine, one that runs it and one that destroys its
// frame. Debug info has no lines of declaration for them; GCC counts their lines from where the
// coroutine is declared. Their symbols end in the type of their parameter, the frame, and a word:
// _Z7numbersP17_Z7numbersl.Frame.actor, with the length of the type's name before it.

const (
	frameType  = ".Frame"
	actorWord  = ".actor"
	destroyEnd = frameType + ".destroy"
)

// coroutineOf returns the linkage name of the coroutine that a function is made of, and the name of
// what runs its body. They are empty for other functions.
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

// declareActors gives the functions of a coroutine's body the place of the coroutine. One may be
// inlined in the other, or in the coroutine itself, which begins by running it.
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

// declareActor gives a function the place of a coroutine of the unit, if that has its name.
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

// declareBegun gives a function that is inlined in a coroutine its place, if it is what runs its
// body.
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

// isNamedLike tells whether a function has the name of a coroutine, without template arguments: GCC
// leaves them out of the names of what it makes of one.
func (f *Function) isNamedLike(coroutine *Function) bool {
	rest, ok := strings.CutPrefix(coroutine.Name, f.Name)
	return ok && (rest == "" || rest[0] == '<')
}

// declareLike gives a function the place of another one, and a linkage name if it has none.
func (f *Function) declareLike(d *Function, linkage string) {
	f.Line, f.File = d.Line, d.File
	if f.LinkageName == "" {
		f.LinkageName = linkage
	}
}

// readActors finds the functions that run the bodies of coroutines, by the linkage names of these.
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

// linked returns the declared functions of the current unit by their linkage names.
func (w *worker) linked(u *unit) (map[string]*Function, error) {
	if u.linked != nil {
		return u.linked, nil
	}
	var refs []dieRef
	c := w.unitCursor()
	c.Pos = int(u.entries - u.span.off)
	err := c.entries(u, func(off uint64, a *abbrev, _ uint64) {
		if a.tag == dwarf.TagSubprogram && (a.has(slotDeclLine) || a.has(slotSpecification)) {
			refs = append(refs, dieRef{u.data, off})
		}
		c.skipEntry(a, u.encoding)
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
