package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"

	"opentabs/internal/bytefind"
	"opentabs/internal/filemark"
	"opentabs/internal/jsonread"
	"opentabs/internal/lazyregexp"
)

const (
	// maxAdapterChars is the maximum size of an adapter's code, in UTF-16 units.
	maxAdapterChars = 5 << 20
	// maxAdapterBytes is the maximum size of an adapter file, in bytes. A UTF-16 unit
	// needs at most 3 bytes in UTF-8.
	maxAdapterBytes = 3 * maxAdapterChars
)

// Adapter reads the JavaScript code of the plugin's adapter from the package. Adapter
// returns an error if the adapter file has changed since the plugin was loaded.
func (p *Plugin) Adapter() ([]byte, error) { return p.readScript(adapterFile, p.Hash) }

// AdapterPath returns the path of the adapter file in the plugin's folder. The adapter's
// source map is in the same folder as the adapter file.
func (p *Plugin) AdapterPath() string { return filepath.Join(p.Dir, filepath.FromSlash(adapterFile)) }

func (p *Plugin) readScript(file, hash string) ([]byte, error) {
	code, problemText := readFile(p.Dir, file, maxAdapterBytes, nil)
	if problemText == "" && hexSHA256(code) != hash {
		problemText = changedFileProblem(p.Dir)
		if p.onFileChange != nil {
			p.onFileChange()
		}
	}
	if problemText != "" {
		return nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: file, Text: problemText}}}
	}
	return code, nil
}

func changedFileProblem(dir string) string {
	return fmt.Sprintf("changed on disk since it was added; review the change, then run opentabs plugin install %s again", dir)
}

func hexSHA256(b []byte) string {
	checksum := sha256.Sum256(b)
	return hex.EncodeToString(checksum[:])
}

// adapterInfo contains the facts about an adapter that stay in memory after the check of
// the adapter's code.
type adapterInfo struct {
	hash            string // the field hash is the SHA-256 of the whole adapter file, in hex
	hasActivateHook bool
}

// If the index of adapters has an entry for the unchanged adapter file, inspectAdapter does not read the file.
func inspectAdapter(dir string, m *packageBuffer, adapterIndex *index) (info adapterInfo, problemText string) {
	f, size, problemText := openFile(dir, adapterFile, maxAdapterBytes)
	if problemText != "" {
		return info, problemText
	}
	defer f.Close()
	infoBefore, err := f.Stat()
	if err != nil {
		return info, describeReadError(err)
	}
	fileMark := filemark.Of(infoBefore)
	if info, ok := adapterIndex.adapterEntry(dir, fileMark); ok {
		return info, ""
	}
	m.packageJSONBytes = resizeBuffer(m.packageJSONBytes, size+1) // one more byte detects a file that grows while it is read
	if n, err := io.ReadFull(f, m.packageJSONBytes); int64(n) != size || !errors.Is(err, io.ErrUnexpectedEOF) {
		return info, "cannot be read while it is being written; try again"
	}
	if info, problemText = checkAdapter(m.packageJSONBytes[:size]); problemText != "" {
		return info, problemText
	}
	if infoAfter, err := f.Stat(); err == nil && filemark.Of(infoAfter) == fileMark {
		adapterIndex.addEntry(dir, fileMark, info)
	}
	return info, ""
}

func checkAdapter(code []byte) (info adapterInfo, problemText string) {
	if problemText := checkScript(code); problemText != "" {
		return info, problemText
	}
	info.hasActivateHook = DefinesActivateHook(code)
	h := sha256.New()
	markerStart := findLastMarker(code)
	if markerStart >= 0 {
		h.Write(code[:markerStart])
		computedHash := hex.EncodeToString(h.Sum(nil))
		if recordedHash := embeddedHash().FindSubmatch(code[markerStart:]); recordedHash != nil && string(recordedHash[1]) != computedHash {
			return info, fmt.Sprintf("was changed after it was built: its recorded hash is %.8s…, but its hash is %.8s…; build the plugin again", recordedHash[1], computedHash)
		}
		code = code[markerStart:]
	}
	h.Write(code)
	info.hash = hex.EncodeToString(h.Sum(nil))
	return info, ""
}

func utf16Length(utf8Text []byte) int {
	n := utf8.RuneCount(utf8Text)
	for _, b := range utf8Text {
		if b >= 0xf0 { // a rune that needs two UTF-16 units starts with a byte of at least 0xf0
			n++
		}
	}
	return n
}

// hashMarker is the start of the statement that a build appends to an adapter to record the
// adapter's hash. The hash covers the adapter's code before the statement that the build
// appends.
var hashMarker = bytefind.Needle{Text: []byte("(function(){var o=(globalThis).__openTabs;"), RareByteIndex: 37} // the letter T in Text is rare in JavaScript and has index 37

var embeddedHash = lazyregexp.New(`\.__adapterHash="([0-9a-f]{64})"`)

// markerSearchBytes is the number of bytes of an adapter that findLastMarker searches in one
// step.
const markerSearchBytes = 16 << 10

// findLastMarker searches from the end of code in steps of 16 KB, because a build appends hashMarker at the end.
func findLastMarker(code []byte) int {
	length := len(hashMarker.Text)
	for endIndex := len(code); endIndex > 0; endIndex -= markerSearchBytes {
		startIndex := max(endIndex-markerSearchBytes, 0)
		searchWindow := code[startIndex:min(endIndex+length-1, len(code))]
		lastIndex := -1
		for searchStart := 0; ; {
			i := hashMarker.Index(searchWindow[searchStart:])
			if i < 0 {
				break
			}
			lastIndex = startIndex + searchStart + i
			searchStart += i + length // two markers cannot overlap
		}
		if lastIndex >= 0 {
			return lastIndex
		}
	}
	return -1
}
