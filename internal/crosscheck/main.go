// Command crosscheck checks that a Go package compiles for other operating systems and
// processors. Type-checking the source is about ten times faster than a build, which
// compiles the standard library and all dependencies for each system. For example:
//
//	go run ./internal/crosscheck ./cmd/opentabs darwin/arm64 windows/arm64
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck PACKAGE SYSTEM/PROCESSOR...")
		os.Exit(2)
	}
	if err := typeCheckTargets(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func typeCheckTargets(pattern string, targets []string) error {
	var errs []error
	for _, target := range targets {
		if err := typeCheckTarget(pattern, target); err != nil {
			errs = append(errs, fmt.Errorf("%s:\n%w", target, err))
		}
	}
	return errors.Join(errs...)
}

func typeCheckTarget(pattern, target string) error {
	goos, goarch, isTarget := strings.Cut(target, "/")
	if !isTarget {
		return fmt.Errorf("%q is not SYSTEM/PROCESSOR", target)
	}
	// NeedDeps makes the loader type-check all imported packages from source, so nothing
	// is compiled.
	loadedPackages, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
	}, pattern)
	if err != nil {
		return err
	}
	var errs []error
	packages.Visit(loadedPackages, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}
