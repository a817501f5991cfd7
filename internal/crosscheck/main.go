// Command crosscheck checks that the program compiles on systems that make test does
// not run on. Checking types from source takes a tenth of the time of a build, because
// a build compiles the standard library and all dependencies for each system.
//
//	go run ./internal/crosscheck ./cmd/opentabs darwin/arm64 windows/arm64
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck PACKAGE SYSTEM/PROCESSOR...")
		os.Exit(2)
	}
	if err := checkTargets(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// checkTargets checks the packages of pattern for all targets, such as darwin/arm64,
// concurrently.
func checkTargets(pattern string, targets []string) error {
	errs := make([]error, len(targets))
	var checks sync.WaitGroup
	for i, target := range targets {
		checks.Go(func() {
			if err := checkTarget(pattern, target); err != nil {
				errs[i] = fmt.Errorf("%s:\n%w", target, err)
			}
		})
	}
	checks.Wait()
	return errors.Join(errs...)
}

// listedPackage is what crosscheck reads of a package in the output of go list.
type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // maps import paths in the source to ImportPath, where the two paths differ
	Module     *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// checkTarget checks the types of pattern and of all packages that it imports.
func checkTarget(pattern, target string) error {
	system, processor, isTarget := strings.Cut(target, "/")
	if !isTarget {
		return fmt.Errorf("%q is not SYSTEM/PROCESSOR", target)
	}
	packages, err := listPackages(pattern, system, processor)
	if err != nil {
		return err
	}
	c := &checker{
		files:   token.NewFileSet(),
		sizes:   types.SizesFor("gc", processor),
		checked: map[string]*types.Package{"unsafe": types.Unsafe},
	}
	for _, p := range packages { // go list prints each package after its imports
		if err := c.check(p); err != nil {
			return err
		}
	}
	return nil
}

// listPackages returns the packages of pattern and all packages that they import, with
// imported packages first.
func listPackages(pattern, system, processor string) ([]listedPackage, error) {
	list := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", pattern)
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var packages []listedPackage
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		packages = append(packages, p)
	}
}

// checker checks the packages of one target.
type checker struct {
	files   *token.FileSet
	sizes   types.Sizes
	checked map[string]*types.Package // by ImportPath
}

// check checks the types of one package. Function bodies are checked in the packages of
// this repository only.
func (c *checker) check(p listedPackage) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	files, err := c.parse(p)
	if err != nil {
		return err
	}
	isOurs := p.Module != nil && p.Module.Main
	var errs []error
	config := types.Config{
		Importer:         importMap{c.checked, p.ImportMap},
		Sizes:            c.sizes,
		IgnoreFuncBodies: !isOurs,
		Error:            func(err error) { errs = append(errs, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	checked, err := config.Check(p.ImportPath, c.files, files, nil)
	if err != nil {
		return errors.Join(errs...)
	}
	c.checked[p.ImportPath] = checked
	return nil
}

// parse parses the files of a package concurrently.
func (c *checker) parse(p listedPackage) ([]*ast.File, error) {
	files := make([]*ast.File, len(p.GoFiles))
	errs := make([]error, len(p.GoFiles))
	var parsing sync.WaitGroup
	for i, name := range p.GoFiles {
		parsing.Go(func() {
			files[i], errs[i] = parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		})
	}
	parsing.Wait()
	return files, errors.Join(errs...)
}

// importMap finds checked packages by the import paths in the source of one package.
type importMap struct {
	checked map[string]*types.Package
	names   map[string]string
}

// Import returns the checked package that a source file imports as path.
func (m importMap) Import(path string) (*types.Package, error) {
	if name, isMapped := m.names[path]; isMapped {
		path = name
	}
	if p := m.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
