package doccheck

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A docPackage has the exported names of a package, and the documentation of each.
type docPackage struct {
	parser *comment.Parser
	names  map[string]bool // Name or Type.Name, and "" for the package itself
	docs   map[string]string
}

func readDocPackage(t *testing.T, folder string, sources []string) *docPackage {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range sources {
		f, err := parser.ParseFile(fset, name, read(t, name), parser.ParseComments)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	d, err := doc.NewFromFiles(fset, parsed, path.Join(module, folder))
	require.NoError(t, err)
	p := &docPackage{parser: d.Parser(), names: make(map[string]bool), docs: make(map[string]string)}
	p.add("", d.Doc)
	p.addValues(d.Consts, d.Vars)
	p.addFunctions("", d.Funcs)
	for _, typ := range d.Types {
		p.add(typ.Name, typ.Doc)
		p.addValues(typ.Consts, typ.Vars)
		p.addFunctions("", typ.Funcs)
		p.addFunctions(typ.Name+".", typ.Methods)
		p.addFields(typ)
	}
	return p
}

func (p *docPackage) add(name, text string) { p.names[name], p.docs[name] = true, text }

func (p *docPackage) addValues(groups ...[]*doc.Value) {
	for _, v := range slices.Concat(groups...) {
		for _, name := range v.Names {
			p.add(name, v.Doc)
		}
	}
}

func (p *docPackage) addFunctions(prefix string, functions []*doc.Func) {
	for _, f := range functions {
		p.add(prefix+f.Name, f.Doc)
	}
}

// addFields adds the fields of a struct, or the methods of an interface.
func (p *docPackage) addFields(typ *doc.Type) {
	ast.Inspect(typ.Decl, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			for _, name := range field.Names {
				p.names[typ.Name+"."+name.Name] = true
			}
		}
		return true
	})
}

// publicPackages returns the packages that other modules may import, by folder.
func publicPackages(t *testing.T) map[string]*docPackage {
	sources := make(map[string][]string)
	for _, name := range files(t, ".go") {
		folder := path.Dir(name)
		if !strings.HasSuffix(name, "_test.go") && !private.MatchString(folder) {
			sources[folder] = append(sources[folder], name)
		}
	}
	packages := make(map[string]*docPackage)
	for folder, names := range sources {
		packages[folder] = readDocPackage(t, folder, names)
	}
	return packages
}

var (
	private   = regexp.MustCompile(`(^|/)(internal|cmd|testdata|bench|fuzz)(/|$)`)
	bracketed = regexp.MustCompile(`\[\*?[A-Z]\w*(\.\w+)?\]|\[\*?[a-z]\w*\.[A-Z]\w*(\.\w+)?\]`)
	published = regexp.MustCompile(`https://pkg\.go\.dev/` + regexp.QuoteMeta(module) + `([^\s#]*)(?:#([\w.]+))?`)
)

// TestDocLinks checks the links in the documentation of exported names: names in brackets and pages
// of pkg.go.dev must exist.
func TestDocLinks(t *testing.T) {
	packages := publicPackages(t)
	links := 0
	exists := func(where, folder, name string) {
		links++
		p := packages[folder]
		if assert.NotNil(t, p, "%s links to a package %s", where, folder) {
			assert.True(t, p.names[name], "%s links to %s of package %s", where, name, folder)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		p := packages[folder]
		for name, text := range p.docs {
			where := path.Join(folder, name)
			for _, m := range published.FindAllStringSubmatch(text, -1) {
				exists(where, path.Join(".", m[1]), m[2])
			}
			eachText(p.parser.Parse(text), func(piece comment.Text) {
				switch piece := piece.(type) {
				case comment.Plain:
					assert.Empty(t, bracketed.FindAllString(string(piece), -1), "%s: links that lead nowhere", where)
				case *comment.DocLink:
					inside, ours := strings.CutPrefix(piece.ImportPath, module)
					if piece.ImportPath != "" && !ours {
						return // of another module
					}
					target := folder
					if piece.ImportPath != "" {
						target = path.Join(".", inside)
					}
					exists(where, target, strings.TrimPrefix(piece.Recv+"."+piece.Name, "."))
				}
			})
		}
	}
	assert.Greater(t, links, 450)
}

// eachText calls do for each text in the paragraphs and lists of a doc comment.
func eachText(d *comment.Doc, do func(comment.Text)) {
	var blocks func([]comment.Block)
	blocks = func(content []comment.Block) {
		for _, b := range content {
			switch b := b.(type) {
			case *comment.Paragraph:
				for _, text := range b.Text {
					do(text)
				}
			case *comment.List:
				for _, item := range b.Items {
					blocks(item.Content)
				}
			}
		}
	}
	blocks(d.Content)
}
