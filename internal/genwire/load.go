package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The type schema has the Go declarations for which genwire generates TypeScript, in
// source order.
type schema struct {
	enums   []*enum
	structs []*structDecl
	decls   []any
}

// constDecl is an exported Go constant that belongs to no enum.
type constDecl struct {
	name, docText, value string
}

// The type enum is a Go string type with its constants, which becomes a union of strings
// in TypeScript.
type enum struct {
	name, docText string
	enumValues    []enumValue
}

type enumValue struct {
	docText, value string
}

type structDecl struct {
	name, docText string
	fields        []field
}

type field struct {
	goName        string
	name, docText string
	isOptional    bool
	isPointer     bool
	isList        bool
	// typ is the name of a basic type (string, bool, int or float64), "raw" for
	// json.RawMessage, or the name of an enum or struct of the package.
	typ string
}

// genwire skips a type whose doc comment contains //genwire:skip and a reason.
func loadSchema(dir fs.FS) (*schema, error) {
	names, err := fs.Glob(dir, "*.go")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		sourceCode, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, sourceCode, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, errors.New("no Go files; name the folder of package wire with -in")
	}
	l := loader{fset: fset, schema: &schema{}, enumsByName: map[string]*enum{}, values: constantValues(fset, files)}
	// Load all types before the constants, because a later file may declare the type of a
	// constant.
	for _, file := range files {
		if err := l.visitSpecs(file, token.TYPE, l.addType); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if err := l.visitSpecs(file, token.CONST, l.addConst); err != nil {
			return nil, err
		}
	}
	return l.schema, nil
}

// Imported packages are not loaded, so a constant that depends on an import has no value. Errors of the type checker
// are ignored, because go build finds the real errors.
func constantValues(fset *token.FileSet, files []*ast.File) map[*ast.Ident]types.Object {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	typesConfig := types.Config{IgnoreFuncBodies: true, Error: func(error) {}}
	_, _ = typesConfig.Check("wire", fset, files, info)
	return info.Defs
}

type loader struct {
	fset        *token.FileSet
	schema      *schema
	enumsByName map[string]*enum
	values      map[*ast.Ident]types.Object
}

func (l *loader) visitSpecs(file *ast.File, tok token.Token, visitSpec func(ast.Spec, *ast.CommentGroup) error) error {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != tok {
			continue
		}
		for _, s := range g.Specs {
			if err := visitSpec(s, specDoc(g, s)); err != nil {
				return fmt.Errorf("%s: %w", l.fset.Position(s.Pos()), err)
			}
		}
	}
	return nil
}

// In a declaration without parentheses, go/ast attaches the comment to the declaration instead of the spec.
func specDoc(g *ast.GenDecl, s ast.Spec) *ast.CommentGroup {
	if !g.Lparen.IsValid() {
		return g.Doc
	}
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc
	case *ast.ValueSpec:
		return s.Doc
	}
	return nil
}

func (l *loader) addType(s ast.Spec, docComment *ast.CommentGroup) error {
	t := s.(*ast.TypeSpec)
	name := t.Name.Name
	if !t.Name.IsExported() || hasSkipComment(docComment) {
		return nil
	}
	if err := checkTypeName(name); err != nil {
		return err
	}
	switch e := t.Type.(type) {
	case *ast.Ident:
		if e.Name != "string" || t.TypeParams != nil || t.Assign.IsValid() {
			return fmt.Errorf("type %s: only structs and string types have a wire form, %s has none", name, e.Name)
		}
		en := &enum{name: name, docText: docComment.Text()}
		l.enumsByName[name] = en
		l.schema.enums = append(l.schema.enums, en)
		l.schema.decls = append(l.schema.decls, en)
	case *ast.StructType:
		if t.TypeParams != nil {
			return fmt.Errorf("type %s: a type with parameters has no wire form", name)
		}
		st := &structDecl{name: name, docText: docComment.Text()}
		for _, f := range e.Fields.List {
			fd, err := loadField(f)
			if err != nil {
				return fmt.Errorf("%s%w", name, err)
			}
			st.fields = append(st.fields, fd)
		}
		l.schema.structs = append(l.schema.structs, st)
		l.schema.decls = append(l.schema.decls, st)
	default:
		return fmt.Errorf("type %s: no wire form for %s; use a struct or a string type", name, types.ExprString(t.Type))
	}
	return nil
}

func hasSkipComment(docComment *ast.CommentGroup) bool {
	return docComment != nil && slices.ContainsFunc(docComment.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//genwire:skip ")
	})
}

func loadField(f *ast.Field) (field, error) {
	if len(f.Names) == 0 {
		return field{}, fmt.Errorf(": embeds %s; name the field, or write its fields out", types.ExprString(f.Type))
	}
	goName := f.Names[0].Name
	if len(f.Names) > 1 || f.Tag == nil || !f.Names[0].IsExported() {
		return field{}, fmt.Errorf(".%s: give each field an exported name and its own json tag", goName)
	}
	rawTag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return field{}, fmt.Errorf(".%s: %w", goName, err)
	}
	name, option, _ := strings.Cut(reflect.StructTag(rawTag).Get("json"), ",")
	fd := field{goName: goName, name: name, docText: f.Doc.Text(), isOptional: option != ""}
	switch {
	case name == "" || name == "-":
		return field{}, fmt.Errorf(".%s: give it a json name", goName)
	case option != "" && option != "omitempty" && option != "omitzero":
		return field{}, fmt.Errorf(".%s: json option %q has no wire form; use omitempty or none", goName, option)
	}
	if err := fd.setType(f.Type); err != nil {
		return field{}, fmt.Errorf(".%s: %w", goName, err)
	}
	if err := checkField(fd); err != nil {
		return field{}, fmt.Errorf(".%s: %w", goName, err)
	}
	return fd, nil
}

func (fd *field) setType(e ast.Expr) error {
	switch e := e.(type) {
	case *ast.StarExpr:
		if _, ok := e.X.(*ast.Ident); ok {
			fd.isPointer = true
			return fd.setType(e.X)
		}
	case *ast.ArrayType:
		if _, ok := e.Elt.(*ast.Ident); ok && e.Len == nil {
			fd.isList = true
			return fd.setType(e.Elt)
		}
	case *ast.SelectorExpr:
		if types.ExprString(e) == "json.RawMessage" {
			fd.typ = "raw"
			return nil
		}
	case *ast.Ident:
		if ast.IsExported(e.Name) || slices.Contains([]string{"string", "bool", "int", "float64"}, e.Name) {
			fd.typ = e.Name
			return nil
		}
	}
	return fmt.Errorf("no wire form for %s; use string, bool, int, float64, json.RawMessage, a type of this package, "+
		"or a pointer to or a slice of one", types.ExprString(e))
}

func (l *loader) addConst(s ast.Spec, docComment *ast.CommentGroup) error {
	v := s.(*ast.ValueSpec)
	for _, id := range v.Names {
		if !id.IsExported() {
			continue
		}
		c, ok := l.values[id].(*types.Const)
		if !ok || c.Val().Kind() == constant.Unknown {
			return fmt.Errorf("const %s: its value can't be computed", id.Name)
		}
		literal, err := tsLiteral(c.Val())
		if err != nil {
			return fmt.Errorf("const %s: %w", id.Name, err)
		}
		namedType, ok := c.Type().(*types.Named)
		if !ok {
			cd := constDecl{name: id.Name, docText: docComment.Text(), value: literal}
			l.schema.decls = append(l.schema.decls, cd)
			continue
		}
		en := l.enumsByName[namedType.Obj().Name()]
		if en == nil {
			return fmt.Errorf("const %s: type %s has no wire form", id.Name, namedType.Obj().Name())
		}
		en.enumValues = append(en.enumValues, enumValue{docText: docComment.Text(), value: literal})
	}
	return nil
}

// tsLiteral returns an error for an integer that JavaScript cannot represent exactly.
func tsLiteral(v constant.Value) (string, error) {
	switch v.Kind() {
	case constant.Int:
		if n, isExact := constant.Int64Val(v); !isExact || n > maxSafeInt || n < -maxSafeInt {
			return "", fmt.Errorf("%s is not exact in JavaScript (above 2^53)", v)
		}
		return v.ExactString(), nil
	case constant.Float:
		f, _ := constant.Float64Val(v)
		return strconv.FormatFloat(f, 'g', -1, 64), nil
	case constant.Bool:
		return v.ExactString(), nil
	case constant.String:
		return tsString(constant.StringVal(v)), nil
	default:
		return "", fmt.Errorf("no TypeScript form for %s", v)
	}
}

const maxSafeInt = 1<<53 - 1
