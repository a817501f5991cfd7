package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/filestore"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// writtenFile is a file that a browser tool has written, as the extension returns the
// file in a tool's result.
type writtenFile struct {
	// Extension is the suffix of the file name without the dot, such as "har".
	Extension string `json:"extension"`
	MediaType string `json:"mimeType"`
	// Text is the content of a text file. Data is the base64-encoded content of a binary
	// file.
	Text string `json:"text"`
	Data string `json:"data"`
}

// fileLink is a link to a file in the result of a tool: an MCP content block without the
// member "type".
type fileLink struct {
	URI       string `json:"uri"`
	Name      string `json:"name"`
	MediaType string `json:"mimeType"`
	SizeBytes int    `json:"size"`
}

// storeFile names the file after the page's host and the time, so that no page can choose a file name.
func (s resultBuilder) storeFile(callInfo dispatch.CallInfo, f *writtenFile, pageAddress string) (fileLink, error) {
	content := []byte(f.Text)
	if f.Data != "" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(f.Data); err != nil {
			return fileLink{}, fmt.Errorf("decode the content: %w", err)
		}
	}
	name := "page"
	if u, err := url.Parse(pageAddress); err == nil && u.Hostname() != "" {
		name = strings.TrimLeft(strings.Map(replaceFileNameChar, u.Hostname()), ".")
		name = name[:min(len(name), maxHostInFileName)]
	}
	storedFile, err := s.files.Add(filestore.File{
		Name:      fmt.Sprintf("%s-%s.%s", name, time.Now().Format("20060102-150405"), strings.Trim(strings.Map(replaceFileNameChar, f.Extension), "._-")),
		MediaType: f.MediaType, Client: callInfo.Client.Identity(), Tool: callInfo.Tool.Name,
	}, content)
	if err != nil {
		return fileLink{}, err
	}
	return fileLink{storedFile.URI(), storedFile.Name, storedFile.MediaType, storedFile.SizeBytes}, nil
}

const maxHostInFileName = 60

func replaceFileNameChar(c rune) rune {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
		return c
	}
	return '_'
}

const fileNameArgument = "_fileName"

// refusedFileTypesArgument is the argument that lists file extensions of programs, such as "exe".
// The extension refuses to download a program file, because a site could redirect an approved
// download to a program.
const refusedFileTypesArgument = "_refusedTypes"

func withFileName(args json.RawMessage) json.RawMessage {
	address := textArgument(args, "url")
	if address == "" {
		return args
	}
	name := downloadName(address)
	refusedFileTypes := slices.DeleteFunc(strings.Fields(programTypes), func(fileExtension string) bool { return fileExtension == fileType(name) })
	return setMember(setMember(args, fileNameArgument, rawjson.Encode(name)), refusedFileTypesArgument, rawjson.Encode(refusedFileTypes))
}

// programTypes are the extensions of files that an operating system may execute when the
// user opens them.
const programTypes = "action ade adp apk app appimage application applescript appref-ms appx appxbundle bash bat bin cab chm cjs class cmd com command " +
	"cpl crx csh deb desktop diagcab dll dmg docm dotm dylib elf exe fileloc fish flatpak flatpakref gadget hlp hta img inetloc inf ins iso isp jar jnlp js " +
	"jse ksh library-ms lnk local lua mde mjs mpkg msc msh msi msix msixbundle msp mst ocx osx out pif pkg pl potm ppam ppsm pptm prg ps1 ps1xml ps2 psc1 " +
	"psd1 psm1 py pyc pyw pyz rb reg rpm run scf scpt scptd scr sct search-ms service settingcontent-ms sh shb shs slk snap so sys tcl terminal theme " +
	"themepack tool url vb vbe vbs vhd vhdx vxd webloc wll workflow ws wsc wsf wsh xbap xlam xll xlsm xltm xpi xrm-ms zsh"

func isProgram(name string) bool {
	return slices.Contains(strings.Fields(programTypes), fileType(name))
}

func fileType(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

const (
	maxFileNameBytes = 120
	maxFileTypeBytes = 20
)

func downloadName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return defaultFileName
	}
	_, name := path.Split(strings.Trim(strings.ReplaceAll(u.Path, `\`, "/"), "/"))
	name = plaintext.Replace(strings.ToValidUTF8(name, "_"), func(rune) string { return "" })
	name = strings.Map(func(c rune) rune {
		switch {
		case strings.ContainsRune(`"*/:<>?\|~%`, c):
			return '_'
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			return -1
		case unicode.IsSpace(c):
			return ' '
		}
		return c
	}, name)
	name = trimFileName(name)
	fileExtension := path.Ext(name)
	if len(fileExtension) > maxFileTypeBytes {
		fileExtension = ""
	}
	stem := strings.TrimSuffix(name, fileExtension)
	for len(stem)+len(fileExtension) > maxFileNameBytes {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	name = trimFileName(trimFileName(stem) + fileExtension)
	switch {
	case name == "":
		return defaultFileName
	case isReservedName(name):
		return "_" + name
	}
	return name
}

const defaultFileName = "download"

// A leading dot hides a file, and Windows drops trailing dots and spaces.
func trimFileName(name string) string { return strings.Trim(name, ". ") }

// isReservedName reports whether Windows treats a file name specially: as a device, such
// as "con", or as a folder setting, such as "desktop.ini".
func isReservedName(name string) bool {
	name = strings.ToLower(name)
	deviceName, _, _ := strings.Cut(name, ".")
	deviceName = strings.TrimSpace(deviceName)
	if number, isPort := strings.CutPrefix(strings.Replace(deviceName, "lpt", "com", 1), "com"); isPort && utf8.RuneCountInString(number) == 1 {
		return strings.Contains("0123456789¹²³", number)
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}, deviceName) || slices.Contains([]string{"desktop.ini", "thumbs.db", "autorun.inf"}, name)
}
