// Package bundlecode splits the code of a bundle into its modules. The build of a plugin
// minifies only the modules that are libraries. A review shows only the modules that the
// author wrote. Builds and reviews both use package bundlecode, so they agree on which
// modules are libraries.
package bundlecode

import (
	"strings"

	"opentabs/internal/lazyregexp"
)

// Module is the code of one source file in a bundle.
type Module struct {
	// Name is the path of the module's source file; empty for the code before the first
	// module.
	Name string
	// IsLibrary is true if the module's path is the path of a library.
	IsLibrary bool
	Code      string
}

// moduleComment matches the comment with the path of a module, which esbuild writes
// before each module.
var moduleComment = lazyregexp.New(`(?m)^ {0,4}// ((?:[A-Za-z-]+:)?[^\s:]+(?:\.(?:[cm]?[jt]sx?|json|svg|css)|locales))[ \t]*\r?$`)

var libraryPath = lazyregexp.New(`(^|/)node_modules/|^opentabs[a-z-]*:(zod|sdk)/|(^|/)plugin-sdk/(dist|src)/`)

// SplitModules splits the code of a bundle at the comments before its modules.
// SplitModules drops modules that contain only white space.
func SplitModules(code string) []Module {
	var modules []Module
	moduleStart, name := 0, ""
	addModule := func(moduleEnd int) {
		if moduleCode := code[moduleStart:moduleEnd]; strings.TrimSpace(moduleCode) != "" {
			modules = append(modules, Module{Name: name, IsLibrary: libraryPath().MatchString(name), Code: moduleCode})
		}
	}
	for _, matchIndexes := range moduleComment().FindAllStringSubmatchIndex(code, -1) {
		addModule(matchIndexes[0])
		moduleStart, name = matchIndexes[0], code[matchIndexes[2]:matchIndexes[3]]
	}
	addModule(len(code))
	// Code that a build appends after a library becomes a separate module, because reviews omit libraries.
	if lastIndex := len(modules) - 1; lastIndex >= 0 && modules[lastIndex].IsLibrary {
		if i := strings.LastIndex(modules[lastIndex].Code, "\n})();"); i >= 0 {
			closingCode := modules[lastIndex].Code[i+1:]
			modules[lastIndex].Code = modules[lastIndex].Code[:i+1]
			modules = append(modules, Module{Code: closingCode})
		}
	}
	return modules
}
