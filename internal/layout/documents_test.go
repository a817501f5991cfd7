package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/config"
	"opentabs/wire"
)

func readDocuments(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, pattern := range []string{"*.md", "*/*.md", "sdk-ts/*/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasPrefix(file, "node_modules/") {
				continue
			}
			fileContent, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			docs[file] = string(fileContent)
		}
	}
	return docs
}

func TestRequiredDocuments(t *testing.T) {
	changeToRepositoryRoot(t)
	docs := readDocuments(t)
	for _, requiredDocs := range []string{
		"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/tool-call.md", "docs/protocol.md", "docs/plugins.md",
		"docs/settings.md", "docs/http-api.md", "docs/troubleshooting.md", "docs/tutorial.md", "docs/glossary.md",
	} {
		if docs[requiredDocs] == "" {
			t.Errorf("the required document %s is missing", requiredDocs)
		}
	}
}

// referencePattern matches a reference to code in backticks, such as
// `wire/proof.go:PairingKey`.
var referencePattern = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:go|tsx?)):([A-Za-z_][A-Za-z0-9_.]*)(?:\\(\\))?`")

func TestDocumentReferences(t *testing.T) {
	changeToRepositoryRoot(t)
	for doc, docText := range readDocuments(t) {
		references := referencePattern.FindAllStringSubmatch(docText, -1)
		for _, m := range references {
			sourceCode, err := os.ReadFile(m[1])
			if err != nil {
				t.Errorf("%s refers to %s, which cannot be read: %v", doc, m[0], err)
			} else if !declaresSymbol(m[1], string(sourceCode), m[2]) {
				t.Errorf("%s refers to %s, but %s declares no %s", doc, m[0], m[1], m[2])
			}
		}
	}
}

// benchmarkPattern matches a command such as `go test ./dispatch -bench Call`.
var benchmarkPattern = regexp.MustCompile(`go test \./(\S+) -bench (\w+)`)

func TestBenchmarksInDocs(t *testing.T) {
	changeToRepositoryRoot(t)
	for doc, docText := range readDocuments(t) {
		for _, m := range benchmarkPattern.FindAllStringSubmatch(docText, -1) {
			testFiles, err := filepath.Glob(m[1] + "/*_test.go")
			if err != nil {
				t.Fatal(err)
			}
			declaration := regexp.MustCompile(`(?m)^func Benchmark\w*` + m[2])
			if !slices.ContainsFunc(testFiles, func(file string) bool {
				sourceCode, err := os.ReadFile(file)
				return err == nil && declaration.Match(sourceCode)
			}) {
				t.Errorf("%s refers to `%s`, but %s has no such benchmark", doc, m[0], m[1])
			}
		}
	}
}

func TestToolCallDoc(t *testing.T) {
	changeToRepositoryRoot(t)
	const name, maxWords, minReferences = "docs/tool-call.md", 900, 30
	docText := readDocuments(t)[name]
	if n := len(strings.Fields(docText)); n > maxWords {
		t.Errorf("%s has %d words, limit %d; move details to a page beside it", name, n, maxWords)
	}
	if n := len(referencePattern.FindAllString(docText, -1)); n < minReferences {
		t.Errorf("%s has %d references `file:Symbol`, want at least %d", name, n, minReferences)
	}
	if !strings.Contains(docText, "\n```\nclient ") {
		t.Errorf("%s has no diagram that starts at the client", name)
	}
}

func declaresSymbol(name, sourceCode, symbol string) bool {
	if path.Ext(name) != ".go" {
		return declaresTSSymbol(sourceCode, symbol)
	}
	f, err := parseGo(name, sourceCode)
	if err != nil {
		return false
	}
	owner, method, isMethod := strings.Cut(symbol, ".")
	references := false
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				references = references || n.Name.Name == symbol
			} else {
				references = references || n.Name.Name == symbol || isMethod && n.Name.Name == method && isReceiver(n.Recv, owner)
			}
			return false
		case *ast.TypeSpec:
			references = references || n.Name.Name == symbol || isMethod && n.Name.Name == owner && hasMember(n.Type, method)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				references = references || id.Name == symbol
			}
		}
		return true
	})
	return references
}

func isReceiver(recv *ast.FieldList, owner string) bool {
	references := false
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		references = references || ok && id.Name == owner
		return true
	})
	return references
}

func hasMember(typ ast.Expr, name string) bool {
	var fields *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return false
	}
	for _, f := range fields.List {
		for _, id := range f.Names {
			if id.Name == name {
				return true
			}
		}
	}
	return false
}

// declaresTSSymbol uses regular expressions instead of a parser, which is reliable for code that biome has formatted.
func declaresTSSymbol(sourceCode, symbol string) bool {
	owner, member, isMember := strings.Cut(symbol, ".")
	isDeclared := func(name string) bool {
		return regexp.MustCompile(`\b(function\*?|class|const|let|interface|type)\s+` + regexp.QuoteMeta(name) + `\b`).MatchString(sourceCode)
	}
	hasMatch := func(name string) bool {
		return regexp.MustCompile(`(?m)^\s+((async|static|readonly|override|get|set|private|public|protected) )*[*#]?'?` +
			regexp.QuoteMeta(name) + `'?\??\s*[(<=:,]`).MatchString(sourceCode)
	}
	if isMember {
		return isDeclared(owner) && hasMatch(member)
	}
	return isDeclared(symbol) || hasMatch(symbol)
}

func TestDeclaresSymbol(t *testing.T) {
	changeToRepositoryRoot(t)
	goSrc := "package a\n\ntype T struct{ F int }\n\ntype I interface{ M() }\n\nfunc (t *T) Run() {}\n\nfunc (b B[K]) Go() {}\n\nconst C = 1\n\nfunc f() {}\n"
	tsSrc := "export class T {\n  async run(): Promise<void> {}\n  #x = 1;\n}\nexport const table = {\n  'tool.dispatch': 1,\n};\nexport function f(): void {}\n"
	for _, c := range []struct {
		name, sourceCode, symbol string
		want                     bool
	}{
		{"a.go", goSrc, "T", true}, {"a.go", goSrc, "T.Run", true}, {"a.go", goSrc, "Run", true}, {"a.go", goSrc, "T.F", true},
		{"a.go", goSrc, "I.M", true}, {"a.go", goSrc, "B.Go", true}, {"a.go", goSrc, "C", true}, {"a.go", goSrc, "f", true},
		{"a.go", goSrc, "I.Run", false}, {"a.go", goSrc, "Stop", false}, {"a.go", goSrc, "T.Stop", false},
		{"a.ts", tsSrc, "T", true}, {"a.ts", tsSrc, "T.run", true}, {"a.ts", tsSrc, "T.x", true}, {"a.ts", tsSrc, "f", true},
		{"a.ts", tsSrc, "table", true}, {"a.ts", tsSrc, "T.stop", false}, {"a.ts", tsSrc, "g", false}, {"a.ts", tsSrc, "U.run", false},
	} {
		if got := declaresSymbol(c.name, c.sourceCode, c.symbol); got != c.want {
			t.Errorf("declaresSymbol(%s, %s) = %v, want %v", c.name, c.symbol, got, c.want)
		}
	}
}

func TestGlossaryTermsAreDefinedOnce(t *testing.T) {
	changeToRepositoryRoot(t)
	const maxTerms = 60
	seenNames := map[string]bool{}
	for line := range strings.Lines(readDocuments(t)["docs/glossary.md"]) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| term |") {
			continue
		}
		term := strings.TrimSpace(cells[0])
		if len(cells) != 2 || len(strings.TrimSpace(cells[1])) < 20 {
			t.Errorf("docs/glossary.md: the term %q has no definition of at least 20 characters", term)
		}
		if seenNames[term] {
			t.Errorf("docs/glossary.md: the term %q is defined twice", term)
		}
		seenNames[term] = true
	}
	if len(seenNames) < 20 || len(seenNames) > maxTerms {
		t.Errorf("docs/glossary.md has %d terms, want 20 to %d", len(seenNames), maxTerms)
	}
}

var linkPattern = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

func TestLinks(t *testing.T) {
	changeToRepositoryRoot(t)
	for doc, docText := range readDocuments(t) {
		for _, m := range linkPattern.FindAllStringSubmatch(docText, -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s: the target of the link %s does not exist: %v", doc, m[0], err)
			}
		}
	}
}

// excerptPattern matches a comment such as <!-- from: path --> and the code block directly after
// the comment.
var excerptPattern = regexp.MustCompile("(?s)<!-- from: (\\S+) -->\n```\\w+\n(.*?)```")

func TestDocumentExcerpts(t *testing.T) {
	changeToRepositoryRoot(t)
	for doc, docText := range readDocuments(t) {
		for _, m := range excerptPattern.FindAllStringSubmatch(docText, -1) {
			sourceCode, err := os.ReadFile(m[1])
			if err != nil {
				t.Errorf("%s: the source file of an excerpt cannot be read: %v", doc, err)
			} else if !strings.Contains(string(sourceCode), m[2]) {
				t.Errorf("%s: the excerpt differs from %s; copy it again", doc, m[1])
			}
		}
	}
	if !excerptPattern.MatchString(readDocuments(t)["README.md"]) {
		t.Error("README.md has no excerpt after a comment such as <!-- from: path -->, want at least one")
	}
}

func TestReadmeIsShort(t *testing.T) {
	changeToRepositoryRoot(t)
	const maxLines = 120
	if n := strings.Count(readDocuments(t)["README.md"], "\n"); n > maxLines {
		t.Errorf("README.md has %d lines, limit %d; move details to docs/", n, maxLines)
	}
}

func TestSettingsDoc(t *testing.T) {
	changeToRepositoryRoot(t)
	const name = "docs/settings.md"
	docText := readDocuments(t)[name]
	flags := config.Flags()
	for _, f := range flags {
		if tableRow := fmt.Sprintf("`--%s` | %s |\n", f.Name, f.Default); !strings.Contains(docText, tableRow) {
			t.Errorf("%s lacks the table row of a setting: %q", name, tableRow)
		}
	}
	if n := strings.Count(docText, "| `--"); n != len(flags) {
		t.Errorf("%s documents %d settings, want %d as in opentabs", name, n, len(flags))
	}
}

func TestChangelog(t *testing.T) {
	changeToRepositoryRoot(t)
	if !strings.Contains(readDocuments(t)["CHANGELOG.md"], "\n## Unreleased\n") {
		t.Error(`CHANGELOG.md lacks the heading "## Unreleased" for changes in the next release`)
	}
}

// examplePattern matches an example frame in docs/protocol.md that follows a comment such
// as <!-- golden: hello.params -->.
var examplePattern = regexp.MustCompile("(?s)<!-- golden: ([a-zA-Z.]+) -->\n```json\n(.*?)\n```")

// Each example in docs/protocol.md must match a golden frame.
func TestProtocolDoc(t *testing.T) {
	changeToRepositoryRoot(t)
	docText := readDocuments(t)["docs/protocol.md"]
	documentedMethods := map[string]bool{}
	for _, m := range examplePattern.FindAllStringSubmatch(docText, -1) {
		documentedMethods[m[1]] = true
		if err := checkExample(m[1], []byte(m[2])); err != nil {
			t.Errorf("docs/protocol.md: the example %s is wrong: %v", m[1], err)
		}
	}
	files, err := filepath.Glob("wire/testdata/frames/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no golden frames, want at least one; error %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if isMessagePart := regexp.MustCompile(`(params|result|error)\.`).MatchString(name); !isMessagePart && !documentedMethods[name] {
			t.Errorf("docs/protocol.md shows no example <!-- golden: %s -->", name)
		}
	}
	sourceCode, err := wire.Source.ReadFile("wire.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, typeName := range []string{"Methods", "ErrorCodes", "CancelOutcomes", "InjectModes"} {
		_, textAfter, _ := strings.Cut(string(sourceCode), "export const "+typeName+" = [")
		block, _, _ := strings.Cut(textAfter, "] as const")
		for _, m := range regexp.MustCompile(`(?m)^  '([^']+)',$`).FindAllStringSubmatch(block, -1) {
			if !strings.Contains(docText, "`"+m[1]+"`") {
				t.Errorf("docs/protocol.md does not document `%s` of %s", m[1], typeName)
			}
		}
	}
	for _, code := range []int{
		wire.CloseVersion, wire.CloseReplaced, wire.CodeParseError, wire.CodeInvalidRequest, wire.CodeMethodNotFound,
		wire.CodeInvalidParams, wire.CodeInternal, wire.CodeCallFailed, wire.CodeVersion,
	} {
		if !strings.Contains(docText, fmt.Sprintf("`%d`", code)) {
			t.Errorf("docs/protocol.md does not document the code `%d`", code)
		}
	}
}

func checkExample(name string, frame []byte) error {
	e, err := wire.Parse(frame)
	if err != nil {
		return err
	}
	body := e.Params
	switch {
	case strings.Contains(name, "result"):
		body = e.Result
	case strings.HasPrefix(name, "error"):
		if body, err = json.Marshal(e.Error); err != nil {
			return err
		}
	case string(e.Method)+".params" != name && !strings.HasPrefix(name, string(e.Method)+".params."):
		return fmt.Errorf("the frame's method is %q", e.Method)
	}
	want, err := os.ReadFile("wire/testdata/frames/" + name + ".json")
	if err != nil {
		return err
	}
	var got, goldenJSON any
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	if err := json.Unmarshal(want, &goldenJSON); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, goldenJSON) {
		return fmt.Errorf("the example is not the golden frame\n got %s\nwant %s", body, bytes.TrimSpace(want))
	}
	return nil
}
