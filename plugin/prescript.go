package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/lazyregexp"
)

// preScriptName is the file name of a plugin's pre-script.
const preScriptName = "pre-script.iife.js"

var hashGrammar = lazyregexp.New(`^[0-9a-f]{64}$`)

func parsePreScript(manifestReader *jsonread.Reader, p *Plugin) {
	name, declaredHash := manifestReader.OptionalText("preScriptFile"), manifestReader.OptionalText("preScriptHash")
	if name == "" {
		return
	}
	if name != preScriptName {
		manifestReader.Add("preScriptFile", "is %q; build the plugin again, so that it is %q", name, preScriptName)
		return
	}
	if declaredHash != "" && !hashGrammar().MatchString(declaredHash) {
		manifestReader.Add("preScriptHash", "is not a SHA-256 in hex; build the plugin again")
		return
	}
	p.PreScript, p.PreScriptHash = true, declaredHash
}

// A package whose pre-script file is missing works without a pre-script.
func inspectPreScript(p *Plugin, m *packageBuffer, packageHash hash.Hash) (problemText string) {
	declaredHash := p.PreScriptHash
	p.PreScript, p.PreScriptHash = false, ""
	if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(preScriptFile))); errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, preScriptFile+" is missing, so the plugin runs without its pre-script; build it again if its tools need the pre-script")
		return ""
	}
	code, problemText := readFile(p.Dir, preScriptFile, maxAdapterBytes, m.packageJSONBytes)
	if problemText != "" {
		return problemText
	}
	m.packageJSONBytes = code
	if problemText := checkScript(code); problemText != "" {
		return problemText
	}
	if declaredHash != "" && !isHashOf(declaredHash, code) {
		return fmt.Sprintf("was changed after it was built: its hash in dist/tools.json is %.8s…; build the plugin again", declaredHash)
	}
	fmt.Fprintf(packageHash, "%d\n", len(code))
	packageHash.Write(code)
	p.PreScript, p.PreScriptHash = true, hexSHA256(code)
	return ""
}

// isHashOf reports whether declaredHash is a valid hash of the pre-script code. A build
// computes the hash of the pre-script's text up to the source map comment. In some builds, the
// hashed text includes the line break that precedes the source map comment.
func isHashOf(declaredHash string, code []byte) bool {
	hashedCode := code
	if i := bytes.LastIndex(code, []byte("//# sourceMappingURL=")); i >= 0 && !bytes.Contains(bytes.TrimSpace(code[i:]), []byte("\n")) {
		hashedCode = code[:i]
	}
	trimmedCode := bytes.TrimRight(hashedCode, "\r\n")
	for _, candidate := range [][]byte{hashedCode, trimmedCode, append(bytes.Clone(trimmedCode), '\n'), code} {
		if hexSHA256(candidate) == declaredHash {
			return true
		}
	}
	return false
}

// PreScriptCode reads the code of the pre-script. PreScriptCode returns nil for a plugin
// without a pre-script. PreScriptCode returns an error if the pre-script file has changed
// since the plugin was loaded.
func (p *Plugin) PreScriptCode() ([]byte, error) {
	if !p.PreScript {
		return nil, nil
	}
	return p.readScript(preScriptFile, p.PreScriptHash)
}

func checkScript(code []byte) (problemText string) {
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
