// Package browserprofile finds the browser profile in which the extension runs, and
// derives a browser name from the profile, such as "Chrome (Work) on laptop".
//
// An extension cannot read the name of its browser profile. To find the profile, opentabs
// searches each profile's copy of the extension's storage for the browser ID that the
// extension has stored. The names of the profiles are in the browser's file "Local
// State". Apart from "Local State" and the storage of the extension, no file of the
// browser is read.
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
	maxNameChars = 30
	// maxFileBytes is how many bytes of each storage file are searched for the browser's
	// ID.
	maxFileBytes = 16 << 20
)

// Machine describes the computer whose browser profiles [Machine.DefaultName] searches.
type Machine struct {
	// OS is the operating system, as in runtime.GOOS: "linux", "darwin" or "windows".
	OS string
	// Home is the user's home directory; empty if unknown.
	Home string
	// Getenv is os.Getenv except in tests.
	Getenv func(string) string
	// HostName is the network name of the computer, such as "laptop.example.com".
	HostName string
}

// ThisMachine describes the computer on which opentabs runs.
func ThisMachine(goos string, getenv func(string) string) Machine {
	home, _ := os.UserHomeDir() // without a home directory, the search finds no profile
	hostName, _ := os.Hostname()
	return Machine{OS: goos, Home: home, Getenv: getenv, HostName: hostName}
}

// DefaultName returns a default name for a browser, such as "Chrome (Work) on laptop".
// DefaultName searches the profiles on this computer for the profile in which the
// extension's storage contains browserID. If no profile contains browserID, DefaultName
// returns "". The parameter sentName is the default name that the extension sent, such as
// "Chrome on Linux".
func (m Machine) DefaultName(extensionID, browserID, sentName string) string {
	if len(browserID) < len("00000000-0000-0000-0000-000000000000") { // a shorter ID could occur by chance in the storage of another profile
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
				return m.formatBrowserName(sentName, readProfiles(dataDir), profileDir)
			}
		}
	}
	return ""
}

func (m Machine) formatBrowserName(sentName string, profileNames map[string]string, profileDir string) string {
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

func (m Machine) dataDirs() []string {
	if m.Home == "" {
		return nil
	}
	configDir, names := filepath.Join(m.Home, ".config"), []string{
		"google-chrome", "google-chrome-beta", "google-chrome-unstable", "chromium", "microsoft-edge", "BraveSoftware/Brave-Browser", "vivaldi",
		"../snap/chromium/common/chromium", "../.var/app/com.google.Chrome/config/google-chrome", "../.var/app/org.chromium.Chromium/config/chromium",
	}
	switch m.OS {
	case "darwin":
		configDir = filepath.Join(m.Home, "Library", "Application Support")
		names = []string{"Google/Chrome", "Google/Chrome Beta", "Google/Chrome Canary", "Chromium", "Microsoft Edge", "BraveSoftware/Brave-Browser", "Vivaldi"}
	case "windows":
		configDir = m.Getenv("LOCALAPPDATA")
		names = []string{"Google/Chrome/User Data", "Chromium/User Data", "Microsoft/Edge/User Data", "BraveSoftware/Brave-Browser/User Data", "Vivaldi/User Data"}
	default:
		if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			configDir = dir
		}
	}
	var dirs []string
	for _, name := range names {
		dirs = append(dirs, filepath.Join(configDir, filepath.FromSlash(name)))
	}
	return dirs
}

// A search in the raw bytes finds the text, because Chrome's database (LevelDB) stores short texts unchanged.
func hasText(folder, wantedText string) bool {
	for _, pattern := range []string{"*.log", "*.ldb"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			continue
		}
		for _, file := range files {
			if fileHasText(file, wantedText) {
				return true
			}
		}
	}
	return false
}

func fileHasText(path, wantedText string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	preferencesBytes, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	return err == nil && bytes.Contains(preferencesBytes, []byte(wantedText))
}

func readProfiles(dataDir string) map[string]string {
	fileContent, err := os.ReadFile(filepath.Join(dataDir, "Local State"))
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
	if json.Unmarshal(fileContent, &state) != nil {
		return nil
	}
	names := map[string]string{}
	for dir, profile := range state.Profile.Cache {
		names[dir] = profile.Name
	}
	return names
}
