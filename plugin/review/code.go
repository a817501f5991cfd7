package review

import (
	"regexp"
	"strings"

	"opentabs/plugin"
)

// Code is the code that pages get of a plugin, taken apart for somebody who
// looks at it. All of the adapter is in it, in order.
//
// Which part is a library is what the comments say that a bundler writes between
// modules, so it is the word of the plugin's author. Mentions tells what to look
// at all the same.
type Code struct {
	// Modules are the adapter's parts; a bundle without such comments is one.
	Modules []Module
	// PreScript is the code of the pre-script; empty if there is none.
	PreScript string
}

// Module is one part of an adapter.
type Module struct {
	// Name is the path of the module's file; empty for what stands before the
	// first.
	Name string
	// Library says that the part calls itself a library.
	Library bool
	Code    string
}

// moduleComment is what esbuild writes before a module: a path, alone on a line.
var moduleComment = regexp.MustCompile(`(?m)^ {0,4}// ((?:[A-Za-z-]+:)?[^\s:]+(?:\.(?:[cm]?[jt]sx?|json|svg|css)|locales))[ \t]*\r?$`)

// libraryPath is where a module's file lies that the author did not write: in a
// folder of npm's, or in opentabs itself.
var libraryPath = regexp.MustCompile(`(^|/)node_modules/|^opentabs[a-z-]*:(zod|sdk)/|(^|/)plugin-sdk/(dist|src)/`)

// ReadCode reads the code of a plugin. It returns an error if a file on disk is not
// the loaded one.
func ReadCode(p *plugin.Plugin) (Code, error) {
	code, err := p.Adapter()
	if err != nil {
		return Code{}, err
	}
	pre, err := p.PreScriptCode()
	if err != nil {
		return Code{}, err
	}
	return Code{Modules: splitModules(string(code)), PreScript: string(pre)}, nil
}

func splitModules(code string) []Module {
	var modules []Module
	from, name := 0, ""
	add := func(to int) {
		if text := code[from:to]; strings.TrimSpace(text) != "" {
			modules = append(modules, Module{Name: name, Library: libraryPath.MatchString(name), Code: text})
		}
	}
	for _, at := range moduleComment.FindAllStringSubmatchIndex(code, -1) {
		add(at[0])
		from, name = at[0], code[at[2]:at[3]]
	}
	add(len(code))
	// What the build appends behind the last module is no part of a library.
	if last := len(modules) - 1; last >= 0 && modules[last].Library {
		if i := strings.LastIndex(modules[last].Code, "\n})();"); i >= 0 {
			rest := modules[last].Code[i+1:]
			modules[last].Code = modules[last].Code[:i+1]
			modules = append(modules, Module{Code: rest})
		}
	}
	return modules
}

// Own is the code that the author wrote, as far as the comments tell.
func (c Code) Own() string { return c.join(false) }

// Libraries is the code that calls itself a library.
func (c Code) Libraries() string { return c.join(true) }

func (c Code) join(library bool) string {
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
