package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// checkSleepCalls reports tests that wait for a fixed time in real time: with time.Sleep, or by receiving from time.After. A
// test may receive from time.After if it then fails, because the test does not wait unless it fails.
//
// Tests that call synctest.Test, directly or through a helper, are allowed to wait, because their time is fake.
func checkSleepCalls(f goFile) []string {
	if !f.test {
		return nil
	}
	usesSynctest := slices.ContainsFunc(f.ast.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"testing/synctest"`
	})
	var violations []string
	for _, d := range f.ast.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if isFunc && usesSynctest && !isTestFunction.MatchString(fn.Name.Name) {
			continue
		}
		if isFunc && allowedRealTimeWaits[f.name+":"+fn.Name.Name] != "" {
			continue
		}
		if isCallingHelper(d, fakeTimeHelpers()[f.dir]) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if waitText := findSleep(n); waitText != "" {
				violations = append(violations, fmt.Sprintf("%s: %s in real time; wait for the event, or use testing/synctest", f.at(n), waitText))
			}
			return true
		})
	}
	return violations
}

// allowedRealTimeWaits are the test functions and TypeScript test files that may wait in real
// time, each with a reason.
var allowedRealTimeWaits = map[string]string{
	"e2e/attacks/origin.test.ts":                "a hostile page, which gets no event when a document of another origin has loaded",
	"cmd/opentabs/main_test.go:runFakeBrowser":  "a program that simulates a browser, which reconnects",
	"cmd/opentabs/main_test.go:countDown":       "a program that simulates a browser, whose tool reports steps",
	"internal/jsbuild/extract_test.go:TestMain": "a child process that hangs until its parent kills it",
}

func findSleep(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if isSelector(n, "time", "Sleep") {
			return "time.Sleep"
		}
	case *ast.BlockStmt:
		return findSleepInList(n.List)
	case *ast.CaseClause:
		return findSleepInList(n.Body)
	case *ast.CommClause:
		if waitText := findSleepInList(n.Body); waitText != "" {
			return waitText
		}
		if receivesFromTimeAfter(n.Comm) && len(n.Body) == 0 {
			return "a select that continues after time.After"
		}
	}
	return ""
}

func findSleepInList(statements []ast.Stmt) string {
	if slices.ContainsFunc(statements, receivesFromTimeAfter) {
		return "<-time.After"
	}
	return ""
}

func receivesFromTimeAfter(s ast.Stmt) bool {
	e, isExpr := s.(*ast.ExprStmt)
	if !isExpr {
		return false
	}
	receiveExpr, isUnary := e.X.(*ast.UnaryExpr)
	if !isUnary || receiveExpr.Op != token.ARROW {
		return false
	}
	call, isCall := receiveExpr.X.(*ast.CallExpr)
	return isCall && isSelector(call.Fun, "time", "After")
}

func calledName(call *ast.CallExpr) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name
	case *ast.SelectorExpr:
		return function.Sel.Name
	}
	return ""
}

var fakeTimeHelpers = sync.OnceValue(func() map[string][]string {
	helpers := map[string][]string{}
	files, err := goFiles()
	if err != nil {
		return helpers
	}
	for hasAdded := true; hasAdded; {
		hasAdded = false
		for _, f := range files {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !f.test || isTestFunction.MatchString(fn.Name.Name) || slices.Contains(helpers[f.dir], fn.Name.Name) {
					continue
				}
				if isCallingHelper(fn, helpers[f.dir]) {
					helpers[f.dir] = append(helpers[f.dir], fn.Name.Name)
					hasAdded = true
				}
			}
		}
	}
	return helpers
})

func isCallingHelper(d ast.Decl, helpers []string) bool {
	isFound := false
	ast.Inspect(d, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		isFound = isFound || isCall && (isSelector(call.Fun, "synctest", "Test") || slices.Contains(helpers, calledName(call)))
		return true
	})
	return isFound
}

var (
	tsSleepPattern    = regexp.MustCompile(`new Promise(<[^>]*>)?\(\(?\w*\)? => setTimeout\(|\bpause\(`)
	tsFakeTimePattern = regexp.MustCompile(`\bmock\.timers\.enable\(`)
)

// A TypeScript test that enables mock timers is allowed to wait, because its time is fake. End-to-end tests are allowed
// to call pause, because they run a real browser.
func checkTSSleep(f tsFile) []string {
	if !f.test || tsFakeTimePattern.MatchString(f.sourceCode) || allowedRealTimeWaits[f.name] != "" {
		return nil
	}
	return f.eachLine(func(line string) string {
		sleepCall := tsSleepPattern.FindString(line)
		if sleepCall == "" || strings.HasPrefix(sleepCall, "pause(") && f.workspace() == "e2e" {
			return ""
		}
		return "a wait for a fixed time in real time; wait for the event, or use mock.timers"
	})
}
