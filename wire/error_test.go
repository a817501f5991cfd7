package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

func TestErrorCodesHasAllConstants(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "ErrorCode" {
			n++
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || !slices.Contains(ErrorCodes(), ErrorCode(code)) {
				t.Errorf("ErrorCodes() lacks the code %q of error.go (error %v); want all codes", code, err)
			}
		}
		return true
	})
	if n != len(ErrorCodes()) {
		t.Errorf("ErrorCodes() has %d codes, want %d, the number of ErrorCode constants in error.go", len(ErrorCodes()), n)
	}
}
