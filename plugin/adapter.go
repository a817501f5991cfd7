package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"opentabs/internal/jsonread"
)

const (
	// maxAdapterChars is the largest adapter, in UTF-16 units.
	maxAdapterChars = 5 << 20
	// maxAdapterBytes is the most bytes that many UTF-16 units can take.
	maxAdapterBytes = 3 * maxAdapterChars
)

// Adapter reads the adapter's code. It returns an error if the file is no
// longer the one that was loaded.
func (p *Plugin) Adapter() ([]byte, error) { return p.readScript(adapterFile, p.Hash) }

func (p *Plugin) readScript(file, hash string) ([]byte, error) {
	code, problem := readFile(p.Dir, file, maxAdapterBytes, nil)
	if problem == "" && hexHash(code) != hash {
		problem = changedProblem(p.Dir)
		if p.changed != nil {
			p.changed()
		}
	}
	if problem != "" {
		return nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: file, Text: problem}}}
	}
	return code, nil
}

func changedProblem(dir string) string {
	return fmt.Sprintf("changed on disk since it was added; look at the change, then run opentabs plugin add %s again", dir)
}

func hexHash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// adapterInfo is what is kept of an adapter.
type adapterInfo struct {
	hash string // SHA-256 of the whole file, in hex
	// activates says that the code defines an onActivate hook.
	activates bool
}

// inspectAdapter reads and checks the adapter of the package in dir, unless known
// has its hash. The problem says what is wrong with it.
func inspectAdapter(dir string, m *memory, known *index) (info adapterInfo, problem string) {
	f, size, problem := openFile(dir, adapterFile, maxAdapterBytes)
	if problem != "" {
		return info, problem
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return info, unreadable(err)
	}
	mark := markOf(before)
	if info, ok := known.adapter(dir, mark); ok {
		return info, ""
	}
	m.text = sized(m.text, size+1) // one more shows that the file has grown
	if n, err := io.ReadFull(f, m.text); int64(n) != size || !errors.Is(err, io.ErrUnexpectedEOF) {
		return info, "cannot be read while it is being written; try again"
	}
	if info, problem = checkAdapter(m.text[:size]); problem != "" {
		return info, problem
	}
	if after, err := f.Stat(); err == nil && markOf(after) == mark {
		known.note(dir, mark, info)
	}
	return info, ""
}

// checkAdapter checks an adapter's text and computes its hash in one pass.
func checkAdapter(code []byte) (info adapterInfo, problem string) {
	if problem := checkScript(code); problem != "" {
		return info, problem
	}
	info.activates = HasOnActivate(code)
	h := sha256.New()
	cut := lastMarker(code)
	if cut >= 0 {
		h.Write(code[:cut])
		own := hex.EncodeToString(h.Sum(nil))
		if said := embeddedHash.FindSubmatch(code[cut:]); said != nil && string(said[1]) != own {
			return info, fmt.Sprintf("was changed after it was built: it says its hash is %.8s…, but it is %.8s…; build the plugin again", said[1], own)
		}
		code = code[cut:]
	}
	h.Write(code)
	info.hash = hex.EncodeToString(h.Sum(nil))
	return info, ""
}

// utf16Length counts the UTF-16 units of valid UTF-8 text.
func utf16Length(text []byte) int {
	n := utf8.RuneCount(text)
	for _, b := range text {
		if b >= 0xf0 { // the first byte of a rune outside the basic plane
			n++
		}
	}
	return n
}
