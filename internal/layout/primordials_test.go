package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Code in primordialsOnlyFolders and primordialsOnlyFiles must not look up built-ins at run time, because the page may have replaced
// them (see sdk-ts/src/runtime/primordials.ts).
var (
	primordialsOnlyFolders = []string{"extension/src/host/"}
	primordialsOnlyFiles   = []string{
		"sdk-ts/src/auth-cache.ts", "sdk-ts/src/config.ts", "sdk-ts/src/pre-script-value.ts", "sdk-ts/src/readiness.ts",
		"sdk-ts/src/running.ts", "sdk-ts/src/tool-error.ts", "sdk-ts/src/runtime/async.ts", "sdk-ts/src/runtime/call.ts",
		"sdk-ts/src/runtime/container.ts", "sdk-ts/src/runtime/context.ts", "sdk-ts/src/runtime/page-primordials.ts",
		"sdk-ts/src/runtime/primordials.ts", "sdk-ts/src/runtime/pristine.ts", "sdk-ts/src/runtime/value.ts",
	}
)

// awaitPattern matches the keywords await and async, which are forbidden only in primordialsOnlyFolders. The SDK may use await
// and async, because the SDK's build replaces these keywords (sdk-ts/src/runtime/async.ts).
var (
	builtInLookupPattern = regexp.MustCompile(`\bfor \([^;]* of |(?:[(\[,]|return) ?\.\.\.|\.(push|pop|map|filter|forEach|join|slice|splice|concat|includes|indexOf|keys|entries|then|catch|finally|test|exec|replace|call|apply|bind|toString)\(`)
	awaitPattern         = regexp.MustCompile(`\bawait\b|\basync\b`)
	// quotedText matches text that the check for built-in lookups ignores: string literals,
	// and the words "context.call():" in error messages.
	quotedText = regexp.MustCompile(`'[^']*'|\bcontext\.call\(\):`)
)

func checkBuiltInLookups(f tsFile) []string {
	host := slices.ContainsFunc(primordialsOnlyFolders, func(folder string) bool { return strings.HasPrefix(f.name, folder) })
	if f.test || !host && !slices.Contains(primordialsOnlyFiles, f.name) {
		return nil
	}
	return f.eachLine(func(line string) string {
		code, _, _ := strings.Cut(line, "//")
		code = strings.ReplaceAll(quotedText.ReplaceAllString(code, "''"), "...args: unknown[]", "")
		code = strings.ReplaceAll(code, "...rest: unknown[]", "")
		if trimmedLine := strings.TrimSpace(code); strings.HasPrefix(trimmedLine, "*") || strings.HasPrefix(trimmedLine, "/*") {
			return ""
		}
		match := builtInLookupPattern.FindString(code)
		if match == "" && host {
			match = awaitPattern.FindString(code)
		}
		if match == "" {
			return ""
		}
		return fmt.Sprintf("%q is looked up when it is used; take it from primordials.ts", match)
	})
}

func TestPrimordialsOnlyFilesExist(t *testing.T) {
	changeToRepositoryRoot(t)
	files := tsFiles(t)
	for _, name := range primordialsOnlyFiles {
		if !slices.ContainsFunc(files, func(f tsFile) bool { return f.name == name }) {
			t.Errorf("the list of late files contains %s, which does not exist; remove the entry", name)
		}
	}
}
