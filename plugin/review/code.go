package review

import (
	"strings"

	"opentabs/internal/bundlecode"
	"opentabs/plugin"
)

// Code is the code of a plugin that runs in pages, divided into parts for a review. Code
// contains the complete code of the adapter in its original order.
//
// Comments that a bundler writes between modules show which modules are libraries. Comments in the
// code do not prove that a bundler wrote the comments, because an author can write the same
// comments.
type Code struct {
	// The field Modules contains the modules of the adapter's bundle: the author's
	// modules and libraries. If the bundle contains no comments between modules, the
	// whole bundle is one module.
	Modules []bundlecode.Module
	// PreScript is the code of the pre-script; empty for a plugin without a pre-script.
	PreScript string
}

// ReadCode returns a plugin's adapter, split into modules, and its pre-script. If a file
// of the plugin on disk differs from the loaded file, ReadCode returns an error.
func ReadCode(p *plugin.Plugin) (Code, error) {
	code, err := p.Adapter()
	if err != nil {
		return Code{}, err
	}
	preScript, err := p.PreScriptCode()
	if err != nil {
		return Code{}, err
	}
	return Code{Modules: bundlecode.SplitModules(string(code)), PreScript: string(preScript)}, nil
}

// OwnCode returns the author's code: all modules that no comment marks as a library.
func (c Code) OwnCode() string { return c.joinModules(false) }

// LibraryCode returns the code of all modules that a comment marks as a library.
func (c Code) LibraryCode() string { return c.joinModules(true) }

func (c Code) joinModules(library bool) string {
	var b strings.Builder
	for _, m := range c.Modules {
		if m.IsLibrary == library {
			b.WriteString(m.Code)
			if !strings.HasSuffix(m.Code, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
