// Package browserprofile finds the profile of a browser on this computer in which the
// extension runs, and returns a name for the browser that contains the profile.
//
// The extension cannot read the name of its profile. Package browserprofile searches the
// storage of the extension in each profile for the ID that the extension has stored, and
// reads the names of profiles from the browser's file Local State. Package browserprofile
// reads no other file of a profile.
package browserprofile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/plaintext"
)

const (
	// maxNameChars limits the length of a profile's name within the name of a browser.
	maxNameChars = 30
	// maxFileBytes limits how many bytes of one storage file opentabs searches for the
	// browser's ID.
	maxFileBytes = 16 << 20
)

// Machine describes the computer on which DefaultName searches for browser profiles.
type Machine struct {
	// OS is the name of the operating system, in the form of runtime.GOOS.
	OS string
	// Home is the user's home directory.
	Home string
	// Getenv is os.Getenv except in tests.
	Getenv func(string) string
	// HostName is the network name of the computer.
	HostName string
}

// ThisMachine returns a description of the computer on which opentabs runs.
func ThisMachine(goos string, getenv func(string) string) Machine {
	home, _ := os.UserHomeDir() // without a home directory, the search finds no profile
	hostName, _ := os.Hostname()
	return Machine{OS: goos, Home: home, Getenv: getenv, HostName: hostName}
}

// DefaultName returns a name such as "Chrome (Work) on laptop" for the browser with an ID
// of the extension; empty if no profile on this computer has the ID. The parameter
// sentName is the default name that the extension sent, such as "Chrome on Linux".
func (m Machine) DefaultName(extensionID, browserID, sentName string) string {
	if len(browserID) < len("00000000-0000-0000-0000-000000000000") { // a shorter ID could occur in another profile by chance
		return ""
	}
	for _, dataDir := range m.dataDirs() {
		folders, err := filepath.Glob(filepath.Join(dataDir, "*", "Local Extension Settings", extensionID))
		if err != nil {
			continue
		}
		for _, folder := range folders {
			if hasText(folder, browserID) {
				profileDir := filepath.Base(filepath.Dir(filepath.Dir(folder)))
				return m.composeName(sentName, readProfiles(dataDir), profileDir)
			}
		}
	}
	return ""
}

// composeName returns the name of a browser. The name leaves out the profile if the browser
// has only one profile.
func (m Machine) composeName(sentName string, profileNames map[string]string, profileDir string) string {
	product, platform, _ := strings.Cut(sentName, " on ")
	if profileName := plaintext.Line(profileNames[profileDir], maxNameChars); len(profileNames) > 1 && profileName != "" {
		product = fmt.Sprintf("%s (%s)", product, profileName)
	}
	host, _, _ := strings.Cut(m.HostName, ".")
	if host = plaintext.Line(host, maxNameChars); host == "" {
		host = platform
	}
	if host == "" {
		return product
	}
	return product + " on " + host
}

// dataDirs returns the folders in which Chromium browsers keep their profiles by default.
func (m Machine) dataDirs() []string {
	if m.Home == "" {
		return nil
	}
	base, names := filepath.Join(m.Home, ".config"), []string{
		"google-chrome", "google-chrome-beta", "google-chrome-unstable", "chromium", "microsoft-edge", "BraveSoftware/Brave-Browser", "vivaldi",
		"../snap/chromium/common/chromium", "../.var/app/com.google.Chrome/config/google-chrome", "../.var/app/org.chromium.Chromium/config/chromium",
	}
	switch m.OS {
	case "darwin":
		base = filepath.Join(m.Home, "Library", "Application Support")
		names = []string{"Google/Chrome", "Google/Chrome Beta", "Google/Chrome Canary", "Chromium", "Microsoft Edge", "BraveSoftware/Brave-Browser", "Vivaldi"}
	case "windows":
		base = m.Getenv("LOCALAPPDATA")
		names = []string{"Google/Chrome/User Data", "Chromium/User Data", "Microsoft/Edge/User Data", "BraveSoftware/Brave-Browser/User Data", "Vivaldi/User Data"}
	default:
		if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			base = dir
		}
	}
	var dirs []string
	for _, name := range names {
		dirs = append(dirs, filepath.Join(base, filepath.FromSlash(name)))
	}
	return dirs
}

// hasText reports whether a database file of the extension contains a text. Chrome's
// database stores short texts unchanged.
func hasText(folder, text string) bool {
	for _, pattern := range []string{"*.log", "*.ldb"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			continue
		}
		for _, file := range files {
			if fileHasText(file, text) {
				return true
			}
		}
	}
	return false
}

func fileHasText(path, text string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	return err == nil && bytes.Contains(data, []byte(text))
}

// readProfiles maps the folder of each browser profile to the name of the profile.
func readProfiles(dataDir string) map[string]string {
	data, err := os.ReadFile(filepath.Join(dataDir, "Local State"))
	if err != nil {
		return nil
	}
	var state struct {
		Profile struct {
			Cache map[string]struct {
				Name string `json:"name"`
			} `json:"info_cache"`
		} `json:"profile"`
	}
	if json.Unmarshal(data, &state) != nil {
		return nil
	}
	names := map[string]string{}
	for dir, profile := range state.Profile.Cache {
		names[dir] = profile.Name
	}
	return names
}
