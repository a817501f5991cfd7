package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Error texts for users do not contain "the user", or the names of tools and arguments that users never type.
var agentPhrasePattern = regexp.MustCompile(`(?i)\bthe user\b|\bdo not (re)?(try|call|peat)\b|\btools_(list|search|describe|call|read)\b|\b(tab|window)Ids?\b|as \\?"(browser|instance)"|browser_\w+ \{`)

// In an error without a UserText, the word "you" would address the agent, and confuse the user.
var wordYouPattern = regexp.MustCompile(`(?i)\byou(r)?\b`)

// The values of sharedErrorTexts explain why one error text suits both agents and users, or why no user sees the text.
var sharedErrorTexts = map[string]string{
	"cancel":                "the message names who cancelled the call",
	"callTool":              "the error of a call outside of opentabs is a fact",
	"newArgumentsError":     "the gateway's own tools are only for agents",
	"newNestingError":       allCallersShareText,
	"newNoTabProblem":       allCallersShareText,
	"newLimitExceededError": allCallersShareText,
	"NewInternalError":      allCallersShareText,
	"newInvalidVerdict":     allCallersShareText,
}

const allCallersShareText = "the callers give one text"

// An error whose text addresses the agent needs a separate text for the user.
func TestErrorTexts(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	checkedCount, usedNames := 0, map[string]bool{}
	for _, f := range files {
		if f.test || f.isGenerated || strings.HasSuffix(f.dir, "test") {
			continue
		}
		for _, e := range errorTexts(f) {
			checkedCount++
			if !isSharedTextCall(e.node) {
				usedNames[e.functionName()] = true
			}
			report(t, checkErrorText(f, e))
		}
	}
	for name := range sharedErrorTexts {
		if !usedNames[name] {
			t.Errorf("sharedErrorTexts contains %s, which creates no error; remove the entry", name)
		}
	}
	if checkedCount < 80 {
		t.Errorf("the test found %d errors, want at least 80; does errorTexts still match the code that creates errors?", checkedCount)
	}
}

type errorText struct {
	node              ast.Node
	function          *ast.FuncDecl
	message, userText ast.Expr
}

func errorTexts(f goFile) []errorText {
	var checkedCount []errorText
	for _, d := range f.ast.Decls {
		function, _ := d.(*ast.FuncDecl)
		ast.Inspect(d, func(n ast.Node) bool {
			e := errorText{node: n, function: function}
			switch n := n.(type) {
			case *ast.CompositeLit:
				if isErrorType(f, n.Type) {
					e.message, e.userText = fieldOf(n, "Message"), fieldOf(n, "UserText")
				}
			case *ast.CallExpr:
				if name := calledName(n); name == "NewBlockVerdict" && len(n.Args) == 3 {
					e.message, e.userText = n.Args[1], n.Args[2]
				} else if sharedErrorTexts[name] == allCallersShareText {
					e.message = &ast.CompositeLit{Elts: n.Args}
				}
			}
			if e.message != nil {
				checkedCount = append(checkedCount, e)
			}
			return true
		})
	}
	return checkedCount
}

func isErrorType(f goFile, e ast.Expr) bool {
	switch t := e.(type) {
	case *ast.SelectorExpr:
		pkg, ok := t.X.(*ast.Ident)
		return ok && (pkg.Name == "wire" && t.Sel.Name == "CallError" || pkg.Name == "dispatch" && t.Sel.Name == "Error")
	case *ast.Ident:
		return f.dir == "wire" && t.Name == "CallError" || f.dir == "dispatch" && t.Name == "Error"
	}
	return false
}

func fieldOf(literal *ast.CompositeLit, name string) ast.Expr {
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
				return pair.Value
			}
		}
	}
	return nil
}

func checkErrorText(f goFile, e errorText) []string {
	message := e.stringLiteralsIn(e.message)
	var userText []string
	if e.userText != nil {
		userText = e.stringLiteralsIn(e.userText)
	}
	hasUserText := e.userText != nil && !slices.Equal(userText, []string{""})
	if !hasUserText {
		if name := e.functionName(); len(message) == 0 && !isSharedTextCall(e.node) && sharedErrorTexts[name] == "" {
			return []string{fmt.Sprintf("%s: the message is not a constant; add a text for the user, or add %s to sharedErrorTexts with a reason", f.at(e.node), name)}
		}
		for _, errorText := range message {
			if agentPhrasePattern.MatchString(errorText) || wordYouPattern.MatchString(errorText) {
				return []string{fmt.Sprintf("%s: %q addresses the agent; add a text for the user", f.at(e.node), errorText)}
			}
		}
		return nil
	}
	var violations []string
	for _, message := range userText {
		if phrase := agentPhrasePattern.FindString(message); phrase != "" {
			violations = append(violations, fmt.Sprintf("%s: the text for the user contains %q, which only suits an agent: %q", f.at(e.node), phrase, message))
		}
	}
	return violations
}

func isSharedTextCall(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && sharedErrorTexts[calledName(call)] == allCallersShareText
}

func (e errorText) functionName() string {
	if e.function == nil {
		return ""
	}
	return e.function.Name.Name
}

func (e errorText) stringLiteralsIn(expr ast.Expr) []string {
	var wantedTexts []string
	seenNames := map[string]bool{}
	var addText func(ast.Expr)
	addText = func(expr ast.Expr) {
		ast.Inspect(expr, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if literal, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					wantedTexts = append(wantedTexts, literal)
				}
			case *ast.Ident:
				if e.function != nil && !seenNames[n.Name] {
					seenNames[n.Name] = true
					for _, value := range assignedValues(e.function, n.Name) {
						addText(value)
					}
				}
			}
			return true
		})
	}
	addText(expr)
	return wantedTexts
}

func assignedValues(function *ast.FuncDecl, name string) []ast.Expr {
	var values []ast.Expr
	ast.Inspect(function, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return true
		}
		for i, leftExpr := range assign.Lhs {
			if id, ok := leftExpr.(*ast.Ident); ok && id.Name == name {
				values = append(values, assign.Rhs[i])
			}
		}
		return true
	})
	return values
}

// failureCall matches the beginning of TypeScript code that creates an error of a browser
// tool.
var failureCall = regexp.MustCompile(`\b(toolFailure|makeCallFailure|DebuggerUnavailableError)\(`)

var substitutionPattern = regexp.MustCompile(`\$\{[^}]*\}`)

var agentTextPattern = regexp.MustCompile(`(?s)forAgent:.*?forUser:`)

// TestTypeScriptErrorTexts checks the error texts of the extension's browser tools by the rules
// of TestErrorTexts.
func TestTypeScriptErrorTexts(t *testing.T) {
	changeToRepositoryRoot(t)
	checkedCount := 0
	for _, f := range tsFiles(t) {
		if !strings.HasPrefix(f.name, "extension/src/") || isTSTest(f.name) {
			continue
		}
		sourceCode := stripComments(f.sourceCode)
		for _, at := range failureCall.FindAllStringIndex(sourceCode, -1) {
			checkedCount++
			failureText := agentTextPattern.ReplaceAllString(substitutionPattern.ReplaceAllString(findArgumentsText(sourceCode, at[1]), ""), "forUser:")
			phrase := agentPhrasePattern.FindString(failureText)
			if phrase == "" && !strings.Contains(failureText, "forUser:") {
				phrase = wordYouPattern.FindString(failureText)
			}
			if phrase != "" {
				t.Errorf("%s: the words %q only suit an agent; give the failure the two texts forAgent and forUser: %s", f.name, phrase, failureText)
			}
		}
	}
	if checkedCount < 80 {
		t.Errorf("the test found %d failures, want at least 80; does failureCall still match them?", checkedCount)
	}
}

func findArgumentsText(sourceCode string, startIndex int) string {
	depth := 1
	for i := startIndex; i < len(sourceCode); i++ {
		switch sourceCode[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return sourceCode[startIndex:i]
		}
	}
	return sourceCode[startIndex:]
}
