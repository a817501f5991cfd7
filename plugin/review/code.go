package review

import (
	"strings"

	"opentabs/internal/lazyregexp"
	"opentabs/plugin"
)

// Code is the code of a plugin that pages receive, split for review. Code contains the
// whole adapter in order.
//
// Comments that a bundler writes between modules mark the libraries. The marks of
// libraries are not verified, because an author could also write comments of bundlers.
type Code struct {
	// Modules are the parts of the adapter; a bundle without comments is one module.
	Modules []Module
	// PreScript is the code of the pre-script; empty for a plugin without a pre-script.
	PreScript string
}

// Module is one part of an adapter.
type Module struct {
	// Name is the path of the module's file; empty for the code before the first
	// module.
	Name string
	// Library reports that the module is marked as a library.
	Library bool
	Code    string
}

// moduleComment matches the comment that esbuild writes before a module: a path.
var moduleComment = lazyregexp.New(`(?m)^ {0,4}// ((?:[A-Za-z-]+:)?[^\s:]+(?:\.(?:[cm]?[jt]sx?|json|svg|css)|locales))[ \t]*\r?$`)

// libraryPath matches the paths of modules that the author did not write: npm
// packages and the SDK.
var libraryPath = lazyregexp.New(`(^|/)node_modules/|^opentabs[a-z-]*:(zod|sdk)/|(^|/)plugin-sdk/(dist|src)/`)

// ReadCode reads the code of a plugin. ReadCode returns an error if a file on disk
// differs from the loaded file.
func ReadCode(p *plugin.Plugin) (Code, error) {
	code, err := p.Adapter()
	if err != nil {
		return Code{}, err
	}
	preScript, err := p.PreScriptCode()
	if err != nil {
		return Code{}, err
	}
	return Code{Modules: splitModules(string(code)), PreScript: string(preScript)}, nil
}

// splitModules splits an adapter at its module comments.
func splitModules(code string) []Module {
	var modules []Module
	moduleStart, name := 0, ""
	add := func(moduleEnd int) {
		if text := code[moduleStart:moduleEnd]; strings.TrimSpace(text) != "" {
			modules = append(modules, Module{Name: name, Library: libraryPath().MatchString(name), Code: text})
		}
	}
	for _, match := range moduleComment().FindAllStringSubmatchIndex(code, -1) {
		add(match[0])
		moduleStart, name = match[0], code[match[2]:match[3]]
	}
	add(len(code))
	// The code that the build appends after the last module is not part of a library.
	if lastIndex := len(modules) - 1; lastIndex >= 0 && modules[lastIndex].Library {
		if i := strings.LastIndex(modules[lastIndex].Code, "\n})();"); i >= 0 {
			closingCode := modules[lastIndex].Code[i+1:]
			modules[lastIndex].Code = modules[lastIndex].Code[:i+1]
			modules = append(modules, Module{Code: closingCode})
		}
	}
	return modules
}

// OwnCode returns the code that is not marked as a library.
func (c Code) OwnCode() string { return c.joinModules(false) }

// LibraryCode returns the code that is marked as a library.
func (c Code) LibraryCode() string { return c.joinModules(true) }

func (c Code) joinModules(library bool) string {
	var b strings.Builder
	for _, m := range c.Modules {
		if m.Library == library {
			b.WriteString(m.Code)
			if !strings.HasSuffix(m.Code, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
