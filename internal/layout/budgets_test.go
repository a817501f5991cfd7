package layout

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	maxPackageFiles = 25
	maxPackageLines = 4000
	maxTypeMethods  = 25
)

type packageSize struct{ files, lines int }

func TestPackageBudgets(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkPackageSizes(files))
	report(t, checkMethodCounts(files))
}

func checkPackageSizes(files []goFile) []string {
	sizes := map[string]packageSize{}
	for _, f := range files {
		if f.test || f.isGenerated {
			continue
		}
		size := sizes[f.dir]
		sizes[f.dir] = packageSize{size.files + 1, size.lines + strings.Count(f.sourceCode, "\n")}
	}
	var violations []string
	for _, dir := range slices.Sorted(maps.Keys(sizes)) {
		size := sizes[dir]
		if size.files > maxPackageFiles || size.lines > maxPackageLines {
			violations = append(violations, fmt.Sprintf("%s: %d files and %d lines, limit %d and %d; split the package by concept",
				dir, size.files, size.lines, maxPackageFiles, maxPackageLines))
		}
	}
	return violations
}

func checkMethodCounts(files []goFile) []string {
	counts := map[string]int{}
	for _, f := range files {
		if f.test || f.isGenerated {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				counts[f.dir+"."+receiverName(fn.Recv)]++
			}
		}
	}
	var violations []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > maxTypeMethods {
			violations = append(violations, fmt.Sprintf("%s has %d methods, limit %d; move a part of its state to a type with its own lock",
				name, counts[name], maxTypeMethods))
		}
	}
	return violations
}

func receiverName(recv *ast.FieldList) string {
	name := ""
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

func TestBudgetsReportViolations(t *testing.T) {
	changeToRepositoryRoot(t)
	parse := func(name, sourceCode string) goFile {
		f, err := parseGo(name, sourceCode)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	methods := "package a\n" + strings.Repeat("func (*t[K]) m() {}\n", maxTypeMethods+1)
	lines := "package a\n" + strings.Repeat("// x\n", maxPackageLines)
	var tooManyFiles []goFile
	for range maxPackageFiles + 1 {
		tooManyFiles = append(tooManyFiles, parse("many/a.go", "package a\n"))
	}
	for _, c := range []struct {
		got  []string
		want string
	}{
		{checkPackageSizes(tooManyFiles), "many: 26 files"},
		{checkPackageSizes([]goFile{parse("long/a.go", lines)}), "4001 lines"},
		{checkPackageSizes([]goFile{parse("a/a_test.go", lines)}), ""},
		{checkPackageSizes([]goFile{parse("a/a.go", strings.TrimSuffix(lines, "// x\n"))}), ""},
		{checkMethodCounts([]goFile{parse("a/a.go", methods)}), "a.t has 26 methods"},
		{checkMethodCounts([]goFile{parse("a/a.go", strings.Replace(methods, "func (*t[K]) m() {}\n", "", 1))}), ""},
	} {
		if got := strings.Join(c.got, "\n"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("violations of the package budgets = %q, want a text that contains %q", got, c.want)
		}
	}
}

func TestPackagesHaveDocs(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	hasDoc := map[string]bool{}
	for _, f := range files {
		if !f.test {
			hasDoc[f.dir] = hasDoc[f.dir] || f.ast.Doc != nil
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(hasDoc)) {
		if !hasDoc[dir] {
			t.Errorf("package %s has no comment, want one that describes the package and its concurrency", dir)
		}
	}
}
