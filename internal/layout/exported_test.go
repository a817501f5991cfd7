package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"opentabs/wire"
)

// A type counts as used if an exported declaration in its package mentions the type: other packages can use its values.
func TestExportedNamesAreUsed(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	sourceCode, err := wire.Source.ReadFile("wire.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkUnusedExports(files, string(sourceCode)))
}

func checkUnusedExports(files []goFile, generatedTS string) []string {
	usedNames := collectNameUses(files)
	methods := collectMethodUses(files)
	unusedNames := map[string]string{}
	for _, f := range files {
		if f.test || f.isGenerated || f.ast.Name.Name == "main" {
			continue
		}
		for _, e := range exportedNames(f) {
			_, method, isMethod := strings.Cut(e.name, ".")
			key := f.dir + "." + e.name
			isUsed := usedNames[key]
			if isMethod {
				isUsed = methods[method].isUsedOutside(f.dir)
			}
			isUsedInTypeScript := f.dir == "wire" && regexp.MustCompile(`\b`+e.name+`\b`).MatchString(generatedTS)
			if !isUsed && !isUsedInTypeScript {
				unusedNames[key] = fmt.Sprintf("%s: no other package uses %s; unexport it", f.at(e.node), e.name)
			}
		}
	}
	return slices.Sorted(maps.Values(unusedNames))
}

// usagePlaces contains usedByInterface for a method that an interface declares.
type usagePlaces map[string]bool

const usedByInterface = "(interface)"

func (p usagePlaces) isUsedOutside(dir string) bool {
	return len(p) > 1 || len(p) == 1 && !p[dir]
}

type exportedName struct {
	name string
	node ast.Node
}

func exportedNames(f goFile) []exportedName {
	var names []exportedName
	addName := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, exportedName{id.Name, id})
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				addName(d.Name)
			} else if owner := receiverName(d.Recv); d.Name.IsExported() && ast.IsExported(owner) {
				names = append(names, exportedName{owner + "." + d.Name.Name, d.Name})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					addName(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						addName(id)
					}
				}
			}
		}
	}
	return names
}

func collectNameUses(files []goFile) map[string]bool {
	packageNames := map[string]string{}
	for _, f := range files {
		if !f.test {
			packageNames[f.dir] = f.ast.Name.Name
		}
	}
	usedNames := map[string]bool{}
	for _, f := range files {
		imports := map[string]string{}
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			dir, localPath := strings.CutPrefix(p, module+"/")
			if !localPath || dir == f.dir {
				continue
			}
			name := packageNames[dir]
			if name == "" {
				name = path.Base(dir)
			}
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[name] = dir
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] != "" {
					usedNames[imports[x.Name]+"."+sel.Sel.Name] = true
				}
			}
			return true
		})
		if !f.test {
			for _, name := range namesInExportedAPI(f) {
				usedNames[f.dir+"."+name] = true
			}
		}
	}
	return usedNames
}

func namesInExportedAPI(f goFile) []string {
	var names []string
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Field:
			if len(n.Names) == 0 || slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) {
				ast.Inspect(n.Type, visit)
			}
			return false
		case *ast.FuncType: // parameter types are part of the API, although parameter names are lower case
			for _, fieldList := range []*ast.FieldList{n.Params, n.Results} {
				if fieldList != nil {
					for _, field := range fieldList.List {
						ast.Inspect(field.Type, visit)
					}
				}
			}
			return false
		case *ast.Ident:
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
		return true
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || isReceiverExported(d.Recv)) {
				ast.Inspect(d.Type, visit)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						ast.Inspect(s.Type, visit)
					}
				case *ast.ValueSpec:
					if d.Tok == token.VAR && s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						ast.Inspect(s.Type, visit)
					}
				}
			}
		}
	}
	return names
}

func collectMethodUses(files []goFile) map[string]usagePlaces {
	usedNames := map[string]usagePlaces{}
	addName := func(name, locationText string) {
		if usedNames[name] == nil {
			usedNames[name] = usagePlaces{}
		}
		usedNames[name][locationText] = true
	}
	for _, name := range standardMethods {
		addName(name, usedByInterface)
	}
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				addName(n.Sel.Name, f.dir)
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					for _, id := range m.Names {
						addName(id.Name, usedByInterface)
					}
				}
			}
			return true
		})
	}
	return usedNames
}

var standardMethods = []string{
	"Error", "Unwrap", "Is", "As", "String", "Len", "Less", "Swap", "Read", "Write", "Close", "ServeHTTP", "RoundTrip",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "Set", "Type", "Run", "MarshalZerologObject",
}

func TestUnusedExportedNamesAreReported(t *testing.T) {
	changeToRepositoryRoot(t)
	var files []goFile
	for _, src := range []struct{ name, source string }{
		{"lib/lib.go", `package lib
type Used struct{ Field Mentioned; hidden Alone }
type Mentioned struct{}
type Alone struct{}
const Constant = 1
func Called() {}
func Uncalled(in Parameter) {}
type Parameter int
func (Used) Selected() {}
func (Used) Demanded() {}
func (Used) Ignored() {}
type Interface interface{ Demanded() }
func unexported(Alone) {}`},
		{"lib/lib_test.go", "package lib_test\nimport \"opentabs/lib\"\nvar _ = lib.Constant\nfunc f() { lib.Used{}.Ignored() }"},
		{"app/app.go", "package app\nimport renamed \"opentabs/lib\"\nvar _ renamed.Used\nvar _ renamed.Interface\nfunc f(u renamed.Used) { renamed.Called(); u.Selected() }"},
	} {
		f, err := parseGo(src.name, src.source)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	got := checkUnusedExports(files, "")
	for i, want := range []string{"uses Alone;", "uses Constant;", "uses Uncalled;", "uses Used.Ignored;"} {
		if len(got) != 4 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Fatalf("want 4 problems, number %d with %q; got\n%s", i+1, want, strings.Join(got, "\n"))
		}
	}
}
