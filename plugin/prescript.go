package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"opentabs/internal/jsonread"
)

// preScriptName is what dist/tools.json calls the pre-script.
const preScriptName = "pre-script.iife.js"

var hashGrammar = regexp.MustCompile(`^[0-9a-f]{64}$`)

// parsePreScript reads what dist/tools.json says of the pre-script.
func parsePreScript(top *jsonread.Reader, p *Plugin) {
	name, said := top.Optional("preScriptFile"), top.Optional("preScriptHash")
	if name == "" {
		return
	}
	if name != preScriptName {
		top.Add("preScriptFile", "is %q; build the plugin again, so that it is %q", name, preScriptName)
		return
	}
	if said != "" && !hashGrammar.MatchString(said) {
		top.Add("preScriptHash", "is not a SHA-256 in hex; build the plugin again")
		return
	}
	p.PreScript, p.PreScriptHash = true, said
}

// inspectPreScript reads and checks the pre-script, whose hash p holds as its
// tools.json has it, and replaces that by the hash of the file. A package that
// lacks the file works without it. What is read goes into all as well.
func inspectPreScript(p *Plugin, m *memory, all hash.Hash) (problem string) {
	said := p.PreScriptHash
	p.PreScript, p.PreScriptHash = false, ""
	if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(preScriptFile))); errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, preScriptFile+" is missing, so the plugin runs without its pre-script; build it again for the tools that need what that gathers")
		return ""
	}
	code, problem := readFile(p.Dir, preScriptFile, maxAdapterBytes, m.text)
	if problem != "" {
		return problem
	}
	m.text = code
	if problem := checkScript(code); problem != "" {
		return problem
	}
	if said != "" && !isHashOf(said, code) {
		return fmt.Sprintf("was changed after it was built: dist/tools.json says its hash is %.8s…; build the plugin again", said)
	}
	fmt.Fprintf(all, "%d\n", len(code))
	all.Write(code)
	p.PreScript, p.PreScriptHash = true, hexHash(code)
	return ""
}

// isHashOf reports whether a build that produced code has told this hash: it is
// that of the text before the comment that names the source map, with or without
// the end of the line before it.
func isHashOf(said string, code []byte) bool {
	text := code
	if i := bytes.LastIndex(code, []byte("//# sourceMappingURL=")); i >= 0 && !bytes.Contains(bytes.TrimSpace(code[i:]), []byte("\n")) {
		text = code[:i]
	}
	trimmed := bytes.TrimRight(text, "\r\n")
	for _, candidate := range [][]byte{text, trimmed, append(bytes.Clone(trimmed), '\n'), code} {
		if hexHash(candidate) == said {
			return true
		}
	}
	return false
}

// PreScriptCode reads the code of the pre-script; nil if the plugin has none. It
// returns an error if the file is no longer the one that was loaded.
func (p *Plugin) PreScriptCode() ([]byte, error) {
	if !p.PreScript {
		return nil, nil
	}
	return p.readScript(preScriptFile, p.PreScriptHash)
}

// checkScript says what is wrong with the text of a script.
func checkScript(code []byte) (problem string) {
	if len(bytes.TrimSpace(code)) == 0 {
		return "is empty; build the plugin again"
	}
	if !utf8.Valid(code) {
		return "is not UTF-8 text; build the plugin again"
	}
	if len(code) > maxAdapterChars {
		if n := utf16Length(code); n > maxAdapterChars {
			return fmt.Sprintf("has %d characters, more than the %d allowed; make it smaller", n, maxAdapterChars)
		}
	}
	return ""
}
