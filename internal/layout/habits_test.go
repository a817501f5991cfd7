package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines = 500 // strict limit for all files; most files should have fewer than 400 lines
	maxFuncLines = 100 // strict limit for all functions; most functions should have fewer than 60 lines
	maxMainLines = 25
)

// allowedSizeExceptions are the files and functions that may exceed a size limit, each with a
// reason.
var allowedSizeExceptions = map[string]string{}

// filesThatPrint are the files that may write to standard output, each with a reason.
var filesThatPrint = map[string]string{
	"cmd/opentabs/main.go":   "hands the process's streams to run",
	"internal/bench/main.go": "hands the process's streams to run",
}

var rules = map[string]func(goFile) []string{
	"size":    checkSize,
	"name":    checkName,
	"mutex":   checkMutexes,
	"print":   checkPrintCalls,
	"sleep":   checkSleepCalls,
	"skip":    checkTestSkips,
	"debt":    checkTodoComments,
	"options": checkOptions,
	"doc":     checkDocs,
	"run":     checkRunFunctions,
	"main":    checkMainSize,
	"json":    checkJSONResponses,
	"regexp":  checkRegexps,
}

func TestGoConventions(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				if !f.isGenerated {
					report(t, rule(f))
				}
			}
		})
	}
}

func checkSize(f goFile) []string {
	var violations []string
	if f.test {
		return nil
	}
	if n := strings.Count(f.sourceCode, "\n"); n > maxFileLines && allowedSizeExceptions[f.name] == "" {
		violations = append(violations, fmt.Sprintf("%s: %d lines, limit %d; split it by concept", f.name, n, maxFileLines))
	}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.lines(fn); n > maxFuncLines && allowedSizeExceptions[f.name+":"+fn.Name.Name] == "" {
			violations = append(violations, fmt.Sprintf("%s: %s has %d lines, limit %d", f.at(fn), fn.Name.Name, n, maxFuncLines))
		}
	}
	return violations
}

// vagueFileName matches file names that do not describe a concept, such as utils.go or
// helpers.go.
var vagueFileName = regexp.MustCompile(`(^|[-_.])(utils?|helpers?|common|types|misc|shared|stuff)([-_.]|$)`)

func checkName(f goFile) []string { return checkFileName(f.name) }

func checkFileName(name string) []string {
	base := path.Base(name)
	if vagueFileName.MatchString(base) {
		return []string{fmt.Sprintf("%s: name the file by the concept in it", name)}
	}
	if strings.ContainsAny(name, " \t") {
		return []string{fmt.Sprintf("%s: a file name has no spaces", name)}
	}
	return nil
}

func checkMutexes(f goFile) []string {
	if f.test {
		return nil
	}
	commentedLines := map[int]bool{}
	for _, group := range f.ast.Comments {
		for line := f.fset.Position(group.Pos()).Line; line <= f.fset.Position(group.End()).Line; line++ {
			commentedLines[line] = true
		}
	}
	var violations []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if isSelector(n, "sync", "Mutex") || isSelector(n, "sync", "RWMutex") {
			if line := f.fset.Position(n.Pos()).Line; !commentedLines[line] && !commentedLines[line-1] {
				violations = append(violations, fmt.Sprintf("%s: add a comment that names what this mutex guards", f.at(n)))
			}
		}
		return true
	})
	return violations
}

func isSelector(n ast.Node, pkg string, names ...string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

// Code that sends an HTTP request is allowed to set the Content-Type application/json itself.
func checkJSONResponses(f goFile) []string {
	if f.test || f.dir == "internal/httpjson" || strings.HasSuffix(f.dir, "test") || f.dir == "internal/bench" {
		return nil
	}
	var violations []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if isSelector(n, "http", "Error") {
			violations = append(violations, fmt.Sprintf("%s: send errors with httpjson.Refuse", f.at(n)))
		}
		if isSelector(n, "json", "NewEncoder") && f.dir != "internal/rawjson" {
			violations = append(violations, fmt.Sprintf("%s: encode with rawjson.Marshal", f.at(n)))
		}
		call, isCall := n.(*ast.CallExpr)
		if !isCall || calledName(call) != "Set" || len(call.Args) != 2 {
			return true
		}
		if value, ok := call.Args[1].(*ast.BasicLit); ok && value.Value == `"application/json"` && strings.Contains(f.sourceCode, "http.ResponseWriter") {
			violations = append(violations, fmt.Sprintf("%s: send JSON with internal/httpjson", f.at(n)))
		}
		return true
	})
	return violations
}

func checkRegexps(f goFile) []string {
	if f.test || f.dir == "internal/lazyregexp" {
		return nil
	}
	var violations []string
	for _, d := range f.ast.Decls {
		if _, isFunc := d.(*ast.FuncDecl); isFunc {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if isSelector(n, "regexp", "MustCompile") {
				violations = append(violations, fmt.Sprintf("%s: declare it with lazyregexp.New, which compiles at first use", f.at(n)))
			}
			return true
		})
	}
	return violations
}

func checkPrintCalls(f goFile) []string {
	if f.test || filesThatPrint[f.name] != "" {
		return nil
	}
	var violations []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				violations = append(violations, fmt.Sprintf("%s: %s bypasses the output rules", f.at(n), id.Name))
			}
		}
		if isSelector(n, "fmt", "Print", "Printf", "Println") || isSelector(n, "os", "Stdout") {
			violations = append(violations, fmt.Sprintf("%s: print with internal/terminal, or accept an io.Writer", f.at(n)))
		}
		return true
	})
	return violations
}

var isTestFunction = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)`)

func checkTestSkips(f goFile) []string {
	if !f.test {
		return nil
	}
	var violations []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if isSelector(n, "t", "Skip", "Skipf", "SkipNow") || isSelector(n, "b", "Skip", "Skipf", "SkipNow") {
			violations = append(violations, fmt.Sprintf("%s: tests are never skipped; make it run or remove it", f.at(n)))
		}
		return true
	})
	return violations
}

var (
	todoPattern        = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	trackedTodoPattern = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\((\d{4}-\d\d-\d\d|#\d+|https://[^)]+)\)`)
)

func checkTodoComments(f goFile) []string {
	var violations []string
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if todoPattern.MatchString(c.Text) && !trackedTodoPattern.MatchString(c.Text) {
				violations = append(violations, fmt.Sprintf("%s: a TODO needs a date or an issue: TODO(2026-01-31) or TODO(#12)", f.at(c)))
			}
		}
	}
	return violations
}

// checkOptions requires a comment on each field of a struct named Options.
func checkOptions(f goFile) []string {
	if f.test {
		return nil
	}
	var violations []string
	for _, d := range f.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE || strings.Contains(g.Doc.Text(), "required") {
			continue
		}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Options" {
				continue
			}
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range st.Fields.List {
				fieldComment := strings.ToLower(field.Doc.Text() + field.Comment.Text())
				if !strings.Contains(fieldComment, "default") && !strings.Contains(fieldComment, "required") {
					violations = append(violations, fmt.Sprintf("%s: document the option's default, or that it is required", f.at(field)))
				}
			}
		}
	}
	return violations
}

func checkDocs(f goFile) []string {
	if f.test || f.ast.Name.Name == "main" {
		return nil
	}
	var violations []string
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && !slices.Contains(selfExplanatoryMethods, d.Name.Name) && (d.Recv == nil || isReceiverExported(d.Recv)) {
				violations = append(violations, fmt.Sprintf("%s: %s needs a doc comment", f.at(d), d.Name.Name))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if ok && spec.Name.IsExported() && spec.Doc == nil && d.Doc == nil {
					violations = append(violations, fmt.Sprintf("%s: %s needs a doc comment", f.at(spec), spec.Name.Name))
				}
			}
		}
	}
	return violations
}

// selfExplanatoryMethods are methods of well-known interfaces, which need no doc comment.
var selfExplanatoryMethods = []string{"String", "Error", "Unwrap", "Len", "Less", "Swap"}

func isReceiverExported(recv *ast.FieldList) bool {
	isExported := false
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			isExported = isExported || id.IsExported()
		}
		return true
	})
	return isExported
}

// Functions that run a command must accept parsed options instead of a *cobra.Command.
func checkRunFunctions(f goFile) []string {
	if f.dir != "cmd/opentabs" && f.dir != "internal/cli/plugincmd" || f.test {
		return nil
	}
	var violations []string
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !regexp.MustCompile(`^run[A-Z]`).MatchString(fn.Name.Name) {
			continue
		}
		ast.Inspect(fn.Type, func(n ast.Node) bool {
			if isSelector(n, "cobra", "Command") {
				violations = append(violations, fmt.Sprintf("%s: %s accepts its options, not a *cobra.Command", f.at(fn), fn.Name.Name))
			}
			return true
		})
	}
	return violations
}

func checkMainSize(f goFile) []string {
	if n := strings.Count(f.sourceCode, "\n"); f.name == "cmd/opentabs/main.go" && n > maxMainLines {
		return []string{fmt.Sprintf("%s: %d lines, limit %d; move the work out of main", f.name, n, maxMainLines)}
	}
	return nil
}

// requiredSymbols are functions that must exist, each with a reason.
var requiredSymbols = []struct{ dir, name, why string }{
	{"cmd/opentabs", "main", "the program"},
	{"wire", "FuzzParse", "bytes from outside are fuzzed"},
	{"plugin", "FuzzManifest", "files from outside are fuzzed"},
	{"wsbridge", "TestMain", "a leaked goroutine fails the package"},
	{"mcpserver", "TestMain", "a leaked goroutine fails the package"},
	{"mcpserver/transport", "TestMain", "a leaked goroutine fails the package"},
}

func TestRequiredSymbols(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	declaredSymbols := map[string]bool{}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				declaredSymbols[f.dir+"."+fn.Name.Name] = true
			}
		}
	}
	for _, r := range requiredSymbols {
		if !declaredSymbols[r.dir+"."+r.name] {
			t.Errorf("package %s lacks the function %s: %s", r.dir, r.name, r.why)
		}
	}
}

func TestPackageDocs(t *testing.T) {
	changeToRepositoryRoot(t)
	for _, dir := range []string{"wire", "dispatch", "wsbridge", "mcpserver", "mcpserver/transport"} {
		sourceCode, err := os.ReadFile(path.Join(dir, "doc.go"))
		if err != nil {
			t.Error(err)
			continue
		}
		f, err := parseGo(path.Join(dir, "doc.go"), string(sourceCode))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(f.ast.Doc.Text(), "# Concurrency") {
			t.Errorf("%s: the package comment lacks the heading \"# Concurrency\"; describe below it which calls may run at the same time", f.name)
		}
	}
}

func TestRulesReportViolations(t *testing.T) {
	changeToRepositoryRoot(t)
	longFunction := strings.Repeat("\t_ = 1\n", maxFuncLines)
	for _, c := range []struct{ rule, name, sourceCode, want string }{
		{"size", "wire/a.go", "package a\n\nfunc f() {\n" + longFunction + "}\n", "f has 102 lines"},
		{"size", "wire/a.go", "package a\n" + strings.Repeat("// x\n", maxFileLines), "501 lines"},
		{"name", "wire/utils.go", "package a\n", "by the concept"},
		{"name", "wire/call_helpers.go", "package a\n", "by the concept"},
		{"name", "wire/types_test.go", "package a\n", "by the concept"},
		{"name", "wire/a b.go", "package a\n", "no spaces"},
		{"mutex", "wire/a.go", "package a\n\ntype t struct {\n\n\tmu sync.Mutex\n}\n", "guards"},
		{"mutex", "wire/a.go", "package a\n\nvar mu sync.RWMutex\n", "guards"},
		{"print", "wire/a.go", "package a\n\nfunc f() { fmt.Println() }\n", "internal/terminal"},
		{"print", "cmd/opentabs/call.go", "package main\n\nvar w = os.Stdout\n", "internal/terminal"},
		{"print", "wire/a.go", "package a\n\nfunc f() { println() }\n", "bypasses"},
		{"sleep", "wire/a_test.go", "package a\n\nfunc f() { time.Sleep(1) }\n", "real time"},
		{"sleep", "wire/a_test.go", "package a\n\nimport \"testing/synctest\"\n\nfunc TestA(t *testing.T) { time.Sleep(1) }\n", "real time"},
		{"sleep", "wire/a_test.go", "package a\n\nfunc f() { <-time.After(1) }\n", "<-time.After in real time"},
		{"sleep", "wire/a_test.go", "package a\n\nfunc f() { select { case <-c: t.Error(1); case <-time.After(1): } }\n", "select that continues"},
		{"skip", "wire/a_test.go", "package a\n\nfunc TestA(t *testing.T) { t.Skip() }\n", "skipped"},
		{"debt", "wire/a.go", "package a\n\n// TODO: later\n", "date or an issue"},
		{"options", "wire/a.go", "package a\n\ntype Options struct {\n\tIdle int // how long\n}\n", "default"},
		{"doc", "wire/a.go", "package a\n\ntype A struct{}\n\nfunc (*A) F() {}\n", "F needs a doc comment"},
		{"doc", "wire/a.go", "package a\n\ntype A struct{}\n", "A needs a doc comment"},
		{"run", "cmd/opentabs/a.go", "package main\n\nfunc runCall(c *cobra.Command) {}\n", "accepts its options"},
		{"main", "cmd/opentabs/main.go", "package main\n" + strings.Repeat("\n", maxMainLines), "out of main"},
	} {
		f, err := parseGo(c.name, c.sourceCode)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rules[c.rule](f), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("violations of the rule %s = %q, want %q, for\n%s", c.rule, got, c.want, c.sourceCode)
		}
	}
	for _, sourceCode := range []string{
		"func TestA(t *testing.T) { synctest.Test(t, func(*testing.T) { time.Sleep(1); <-time.After(1) }) }",
		"func TestA(t *testing.T) { select { case <-c: case <-time.After(hangs): t.Fatal(1) } }",
	} {
		f, err := parseGo("wire/a_test.go", "package a\n\n"+sourceCode+"\n")
		if err != nil {
			t.Fatal(err)
		}
		report(t, checkSleepCalls(f))
	}
	for _, c := range []struct{ name, sourceCode, want string }{
		{"wire/a.go", "package a\n\nimport \"opentabs/dispatch\"\n", "wire may not import dispatch"},
		{"wsbridge/a.go", "package a\n\nimport \"opentabs/mcpserver\"\n", "wsbridge may not import mcpserver"},
		{"dispatch/a.go", "package a\n\nimport \"github.com/coder/websocket\"\n", "only wsbridge"},
		{"wire/a.go", "package a\n\nimport \"github.com/rs/zerolog\"\n", "may import github.com/rs/zerolog"},
		{"wire/a.go", "package a\n\nimport \"example.com/x\"\n", "is not in libraries"},
		{"newpkg/a.go", "package a\n", "not in mayImport"},
	} {
		f, err := parseGo(c.name, c.sourceCode)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(checkImports(f), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("violations of the import rules = %q, want %q, for\n%s", got, c.want, c.sourceCode)
		}
	}
}
