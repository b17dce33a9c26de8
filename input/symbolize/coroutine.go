package symbolize

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"strconv"
	"strings"
)

// GCC turns the body of a coroutine into two functions: the actor, which runs the body, and one
// that destroys the frame. Debug info has no line of declaration for them; GCC counts their lines
// from the declaration of the coroutine. Their symbols end with the type of their parameter, which
// is the frame, and a word: _Z7numbersP17_Z7numbersl.Frame.actor. The length of the type's name
// precedes it.

const (
	frameType  = ".Frame"
	actorWord  = ".actor"
	destroyEnd = frameType + ".destroy"
)

// coroutineOf returns the linkage names of a coroutine and its actor, given one of the two
// functions made from the coroutine. They are empty for other functions.
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

// declareActors sets the declaration of functions made from a coroutine to that of the coroutine.
// One of them may be inlined into the other, or into the coroutine itself, which starts the actor.
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

// declareActor sets the declaration of f to that of a coroutine of the unit, if their names match.
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

// declareBegun sets the declaration of a function inlined into a coroutine, if it is the
// coroutine's actor.
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

// isNamedLike reports whether a function has the name of a coroutine, ignoring template arguments.
// GCC omits them in the names of functions made from a coroutine.
func (f *Function) isNamedLike(coroutine *Function) bool {
	rest, ok := strings.CutPrefix(coroutine.Name, f.Name)
	return ok && (rest == "" || rest[0] == '<')
}

// declareLike copies the declaration of another function, and sets the linkage name if there is
// none.
func (f *Function) declareLike(d *Function, linkage string) {
	f.Line, f.File = d.Line, d.File
	f.LinkageName = cmp.Or(f.LinkageName, linkage)
}

// readActors finds the actors of coroutines, by the linkage name of the coroutine.
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

// linked returns the declared functions of the current unit by linkage name.
func (w *worker) linked(u *dwarfUnit) (map[string]*Function, error) {
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
