package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// otherFormatFields lists, by package, fields of other JSON formats that have the same name
// as a field of message frames.
var otherFormatFields = map[string]struct {
	names  []string
	format string
}{
	"wsbridge/status":   {[]string{"id", "name", "running", "tabs"}, "a browser in the HTTP API"},
	"mcpserver":         {[]string{"browserName", "displayName", "needsReload", "tabId"}, "arguments and results of MCP tools"},
	"browser":           {[]string{"tabId", "windowId"}, "arguments and results of browser tools"},
	"internal/otlp":     {[]string{"traceId"}, "a span of OpenTelemetry"},
	"internal/toolcall": {[]string{"tabId"}, "arguments of MCP tools"},
	"internal/author":   {[]string{"tabId"}, "arguments of MCP tools that no plugin may define"},
	"internal/config":   {[]string{"maxResultBytes"}, "the settings file"},
	"internal/bench":    {[]string{"atMs", "displayName", "endedMs"}, "the log of a measured MCP call, and the package format of plugins"},
	"internal/install":  {[]string{"displayName"}, "the package format of plugins"},
	"internal/jsbuild":  {[]string{"displayName", "preScript"}, "the package format of plugins"},
	"plugin":            {[]string{"displayName", "tabId"}, "the package format of plugins, and an argument of browser tools"},
	"plugin/plugintest": {[]string{"displayName"}, "the package format of plugins"},
	"plugin/policy":     {[]string{"lateAccess"}, "the file of permissions"},
}

// frameFunctionPattern matches the functions and types of package wire that encode, decode and
// route message frames.
var frameFunctionPattern = regexp.MustCompile(`^(Parse|Envelope|Append[A-Z].*|EncodeBody|Decode[A-Z].*|Method[A-Z].*)$`)

// Package wire must be the only package that encodes and decodes message frames.
//
// A package that uses the frame functions of package wire, such as Parse, must not contain any name of a frame field,
// and neither must its subpackages. Packages that do not use the frame functions of package wire have other JSON
// formats, whose fields may be called "id" or "url". In packages without frame functions, TestFrameFieldsAreInWire
// rejects only field names of several words, such as dispatchId.
//
// Tests that simulate the browser write message frames by hand, instead of using the encoders that they test.
func TestFrameFieldsAreInWire(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkFrameFields(files))
}

// jsonTextPattern matches the beginning of a JSON object or message frame in a TypeScript
// string literal.
var jsonTextPattern = regexp.MustCompile("[`'\"]\\{\"[A-Za-z]|jsonrpc")

// The TypeScript compiler cannot check field names in strings.
func TestFrameFieldsAreInWireTypeScript(t *testing.T) {
	changeToRepositoryRoot(t)
	for _, f := range tsFiles(t) {
		if f.test || !strings.HasPrefix(f.name, "extension/src/") {
			continue
		}
		report(t, f.eachLine(func(line string) string {
			if match := jsonTextPattern.FindString(line); match != "" {
				return fmt.Sprintf("%q begins JSON text; use an encoder of wire/frame.ts, or makeObjectText in the host", match)
			}
			return ""
		}))
	}
}

func checkFrameFields(files []goFile) []string {
	names, methods := frameNames(files)
	checkedDirs := frameDirs(files)
	allowedFields := map[string]bool{} // a key names a package and a field, such as "plugin tabId"
	for dir, otherFormat := range otherFormatFields {
		for _, name := range otherFormat.names {
			allowedFields[dir+" "+name] = true
		}
	}
	usedExceptions := map[string]bool{}
	var violations []string
	for _, f := range files {
		if f.test || f.isGenerated || f.dir == "wire" {
			continue
		}
		isStrict := slices.ContainsFunc(checkedDirs, func(dir string) bool { return f.dir == dir || strings.HasPrefix(f.dir, dir+"/") })
		for _, s := range findFrameNames(f) {
			key := f.dir + " " + s.name
			switch {
			case methods[s.name]:
				violations = append(violations, fmt.Sprintf("%s: use the constant of package wire for the method %q", f.at(s.node), s.name))
			case !names[s.name] || isSingleWord(s.name) && (s.isPlainLiteral || !isStrict):
			case allowedFields[key]:
				usedExceptions[key] = true
			default:
				violations = append(violations, fmt.Sprintf("%s: %q is a field of a frame; encode and decode frames in package wire, or add the other format to otherFormatFields",
					f.at(s.node), s.name))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(allowedFields)) {
		if !usedExceptions[key] {
			violations = append(violations, key+" is not spelled any more: remove it from otherFormatFields")
		}
	}
	return violations
}

// isSingleWord reports whether a field name is a single word, which other JSON formats are
// likely to use, too. The field jsonrpc is a shared name, because both MCP messages and
// message frames have this field.
func isSingleWord(name string) bool { return strings.ToLower(name) == name }

func frameNames(files []goFile) (fields, methods map[string]bool) {
	fields, methods = map[string]bool{"jsonrpc": true}, map[string]bool{}
	for _, f := range files {
		if f.dir != "wire" || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if name := jsonName(n.Tag); name != "" {
					fields[name] = true
				}
			case *ast.ValueSpec:
				if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "Method" {
					for _, v := range n.Values {
						if method := stringLiteralValue(v); strings.Contains(method, ".") {
							methods[method] = true
						}
					}
				}
			}
			return true
		})
	}
	return fields, methods
}

func frameDirs(files []goFile) []string {
	var dirs []string
	for _, f := range files {
		if f.test || f.dir == "wire" || slices.Contains(dirs, f.dir) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "wire" && frameFunctionPattern.MatchString(s.Sel.Name) && !slices.Contains(dirs, f.dir) {
				dirs = append(dirs, f.dir)
			}
			return true
		})
	}
	return dirs
}

type frameName struct {
	name           string
	node           ast.Node
	isPlainLiteral bool
}

var jsonKey = regexp.MustCompile(`"([A-Za-z]+)"\s*:`)

func findFrameNames(f goFile) []frameName {
	var names []frameName
	addName := func(n ast.Expr, isPlainLiteral bool) {
		if name := stringLiteralValue(n); name != "" {
			names = append(names, frameName{name, n, isPlainLiteral})
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if name := jsonName(n.Tag); name != "" {
				names = append(names, frameName{name: name, node: n})
			}
		case *ast.BasicLit:
			addName(n, true)
			for _, m := range jsonKey.FindAllStringSubmatch(stringLiteralValue(n), -1) {
				names = append(names, frameName{name: m[1], node: n})
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				addName(e, false)
			}
		case *ast.BinaryExpr:
			addName(n.X, false)
			addName(n.Y, false)
		case *ast.IndexExpr:
			addName(n.Index, false)
		case *ast.KeyValueExpr:
			addName(n.Key, false)
		}
		return true
	})
	return names
}

func stringLiteralValue(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	value, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return value
}

func jsonName(tag *ast.BasicLit) string {
	if tag == nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(stringLiteralValue(tag)).Get("json"), ",")
	return name
}

func TestFrameFieldsOutsideWireAreReported(t *testing.T) {
	const protocol = "package wire\ntype Method string\nconst MethodToolAsk Method = \"tool.ask\"\n" +
		"type ToolAskParams struct {\n\tDispatchID string `json:\"dispatchId\"`\n\tAsk int `json:\"ask,omitempty\"`\n}\n"
	const uses = "\nvar _ = wire.Parse\n"
	originalProtocols := otherFormatFields
	otherFormatFields = nil
	defer func() { otherFormatFields = originalProtocols }()
	for _, c := range []struct{ name, sourceCode, want string }{
		{"bridge/a.go", "var _ = `{\"dispatchId\":`" + uses, `"dispatchId" is a field`},
		{"bridge/a.go", "var _ = \"{\\\"ask\\\" : 1}\"" + uses, `"ask" is a field`},
		{"bridge/a.go", "type x struct { Ask int `json:\"ask\"` }" + uses, `"ask" is a field`},
		{"bridge/a.go", "func f(k string) { switch k { case \"ask\": } }" + uses, `"ask" is a field`},
		{"bridge/a.go", "func f(k string) bool { return k == \"ask\" }" + uses, `"ask" is a field`},
		{"bridge/a.go", "func f(m map[string]int) int { return m[\"ask\"] }" + uses, `"ask" is a field`},
		{"bridge/a.go", "var _ = map[string]int{\"ask\": 1}" + uses, `"ask" is a field`},
		{"bridge/a.go", "var _ = `{\"jsonrpc\":\"2.0\"}`" + uses, `"jsonrpc" is a field`},
		{"bridge/a.go", "var _ = log(\"ask\")" + uses, ""},
		{"other/a.go", "var _ = log(\"dispatchId\")", `"dispatchId" is a field`},
		{"other/a.go", "type x struct { ID int `json:\"dispatchId\"` }", `"dispatchId" is a field`},
		{"other/a.go", "var _ = \"tool.ask\"", `the method "tool.ask"`},
		{"other/a.go", "var _ = `{\"jsonrpc\":\"2.0\",\"ask\":1}`", ""},
		{"other/a_test.go", "var _ = `{\"dispatchId\":1}`", ""},
	} {
		var files []goFile
		for name, sourceCode := range map[string]string{"wire/a.go": protocol, c.name: "package x\n\n" + c.sourceCode} {
			f, err := parseGo(name, sourceCode)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		got := strings.Join(checkFrameFields(files), "\n")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("violations in %s with the code %s = %q, want %q", c.name, c.sourceCode, got, c.want)
		}
	}
	otherFormatFields = originalProtocols
	if got := checkFrameFields(nil); len(got) == 0 {
		t.Error("checkFrameFields reported no unused entry of otherFormatFields, want a report for each")
	}
}
