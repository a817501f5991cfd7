package layout

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bannedWords maps banned words and phrases, separated by commas, to the usual term. The
// check for banned words ignores case, and covers file names, identifiers, comments,
// strings and documents. In a banned phrase, "#" matches any number, and "*" matches any
// single word.
var bannedWords = map[string]string{
	"nobody, somebody":              `name the user, the client or the caller: "no client", "not reviewed"`,
	"anew":                          `"again", or a verb with re-: reload, restart, rebuild`,
	"tell, tells, told, telling":    "code returns, sends, reports or logs; peers receive",
	"say, says, said, saying":       "code returns, sends, reports or logs; documents describe",
	"stands, stood":                 `"is"`,
	"lies in":                       `"is in"`,
	"of its own, of his own":        `"its own", "separate"`,
	"of their own, of our own":      `"their own", "separate"`,
	"by now":                        `leave it out, or use "now"`,
	"person, persons, people":       `"the user", "users"`,
	"moot":                          `"recheckGates"`,
	"hush, hushes, hushed":          `"pauseTimers"`,
	"stir, stirs, stirred":          `"onChildProgress"`,
	"sensible":                      `"validate", "valid"`,
	"patience":                      `"timeouts"`,
	"stillness":                     `"click guard"`,
	"tending":                       `"settings sync"`,
	"furnish, furnishes, furnished": `"adapter globals"`,
	"stranger, strangers":           `"unauthenticated peer"`,
	"door, doors":                   `"entry point"`,
	"roll call":                     `"handshake"`,
	"incumbent, theirs":             `"the original OpenTabs"`,
	"existing open tabs, existing tool chain, existing sdk, existing platform": `"the original OpenTabs SDK"`,
	"fault #, design section #":            "describe the problem: the list is not in this repository",
	"let in, lets in, let * in, lets * in": `"review and enable"`,
	"look at it, looks at it":              `"review"`,
	"played":                               `"simulated"`,
	"knows":                                `"has", "stores", "checks"`,
	"cut off":                              `"disconnected", "truncated"`,
	"odd report, odd reports":              `"malformed report"`,
	"fit together, fits together":          `"is compatible with"`,
	"is asked, are asked, be asked, was asked, were asked": `"receives a request", "approval is required"`,
}

type phrase struct {
	sentenceWords []string
	replacement   string
}

var phrases = func() map[string][]phrase {
	phrasesByFirstWord := map[string][]phrase{}
	for phraseList, replacement := range bannedWords {
		for wordList := range strings.SplitSeq(phraseList, ", ") {
			sentenceWords := strings.Fields(wordList)
			phrasesByFirstWord[sentenceWords[0]] = append(phrasesByFirstWord[sentenceWords[0]], phrase{sentenceWords, replacement})
		}
	}
	return phrasesByFirstWord
}()

// vagueFunctions are banned function names: they contain no verb and object, or are
// likely names of local variables. Methods may have the names in reservedMethodNames, because
// the receiver makes their meaning clear.
var (
	vagueFunctions = []string{
		"take", "told", "took", "cut", "held", "burst", "acts", "life", "moot", "hush", "stoodStill",
		"found", "number", "list", "when",
	}
	reservedMethodNames = []string{"found", "number", "list", "when"}
)

var vagueTSFunctionPattern = regexp.MustCompile(`\bfunction (` + strings.Join(vagueFunctions, "|") + `)\b`)

type word struct {
	lowercasePhrase string
	line            int
}

func wordsOf(content string) []word {
	var sentenceWords []word
	line, startIndex := 1, -1
	endWord := func(at int) {
		if startIndex >= 0 {
			sentenceWords = append(sentenceWords, word{strings.ToLower(content[startIndex:at]), line})
		}
		startIndex = -1
	}
	for i := range len(content) {
		c := content[i]
		isUpper := 'A' <= c && c <= 'Z'
		switch {
		case isUpper && i > 0 && 'a' <= content[i-1] && content[i-1] <= 'z':
			endWord(i)
			startIndex = i
		case isUpper || 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			if startIndex < 0 {
				startIndex = i
			}
		default:
			endWord(i)
			if c == '\n' {
				line++
			}
		}
	}
	endWord(len(content))
	return sentenceWords
}

func (p phrase) matches(sentenceWords []word) bool {
	if len(sentenceWords) < len(p.sentenceWords) {
		return false
	}
	for i, want := range p.sentenceWords {
		got := sentenceWords[i].lowercasePhrase
		if want == "#" && strings.Trim(got, "0123456789") == "" || want == "*" || want == got {
			continue
		}
		return false
	}
	return true
}

func checkWords(name, content string) []string {
	var violations []string
	sentenceWords := wordsOf(name + "\n" + content)
	for i, w := range sentenceWords {
		for _, p := range phrases[w.lowercasePhrase] {
			if p.matches(sentenceWords[i:]) {
				violations = append(violations, fmt.Sprintf("%s:%d: %q: use %s", name, w.line-1, strings.Join(p.sentenceWords, " "), p.replacement))
			}
		}
	}
	if path.Ext(name) == ".go" {
		return violations
	}
	for _, m := range vagueTSFunctionPattern.FindAllStringSubmatch(content, -1) {
		violations = append(violations, checkFunctionName(name, m[1]))
	}
	return violations
}

func checkFunctionNames(f goFile) []string {
	var violations []string
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && slices.Contains(vagueFunctions, fn.Name.Name) && (fn.Recv == nil || !slices.Contains(reservedMethodNames, fn.Name.Name)) {
			violations = append(violations, checkFunctionName(f.at(fn), fn.Name.Name))
		}
	}
	return violations
}

func checkFunctionName(at, name string) string {
	return fmt.Sprintf("%s: function %s: use a verb and its object, as in sendReport", at, name)
}

var checkedFiles = []string{".go", ".ts", ".tsx", ".md", ".css", ".html", ".grit", "Makefile"}

var wordCheckExceptions = []string{
	"internal/layout/words_test.go",
	"sdk-ts/src/lucide-icon-names.gen.ts",
}

func TestBannedWords(t *testing.T) {
	changeToRepositoryRoot(t)
	names, err := filepath.Glob(".ci/*")
	if err != nil {
		t.Fatal(err)
	}
	err = walkFiles(func(name string) error {
		isChecked := slices.ContainsFunc(checkedFiles, func(fileSuffix string) bool { return strings.HasSuffix(name, fileSuffix) })
		if isChecked && !slices.Contains(wordCheckExceptions, name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var violations []string
	for _, name := range names {
		if fileInfo, err := os.Stat(name); err != nil || fileInfo.IsDir() {
			continue
		}
		sourceCode, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		violations = append(violations, checkWords(name, string(sourceCode))...)
		if path.Ext(name) == ".go" {
			f, err := parseGo(name, string(sourceCode))
			if err != nil {
				t.Fatal(err)
			}
			violations = append(violations, checkFunctionNames(f)...)
		}
	}
	report(t, violations)
}

func TestBannedWordsAreReported(t *testing.T) {
	changeToRepositoryRoot(t)
	for _, c := range []struct{ name, content, want string }{
		{"a.go", "package a\n\n// Nobody waits.\n", "a.go:3: \"nobody\""},
		{"a.go", "// lies\n// in a folder", "a.go:1: \"lies in\""},
		{"a.ts", "const stoodStill = 1;", "a.ts:1: \"stood\""},
		{"a.go", "const MAX_PATIENCE = 1", "timeouts"},
		{"a.go", "// see design section 6", "not in this repository"},
		{"a.go", "// lets it in", "review and enable"},
		{"patience_test.go", "", "patience_test.go:0"},
		{"a.ts", "export function take(x: number) {}", "function take"},
		{"a.ts", "// standard, unknown, doorstep, reload", ""},
		{"a.go", "// The client reports progress.", ""},
	} {
		got := strings.Join(checkWords(c.name, c.content), "\n")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("banned words in %s with the content %q = %q, want %q", c.name, c.content, got, c.want)
		}
	}
	f, err := parseGo("a.go", "package a\nfunc list() {}\nfunc (t T) list() {}\nfunc (t T) take() {}\nfunc takeAll() {}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := checkFunctionNames(f); len(got) != 2 {
		t.Errorf("rejected names = %q, want the function `list` and the method `take`", got)
	}
}
