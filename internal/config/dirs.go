package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// HomeVariable is the name of the environment variable for the home directory. If the
// variable is set, opentabs keeps all files in that directory.
const HomeVariable = "OPENTABS_HOME"

// Dirs are the directories in which opentabs keeps its files. The directory for
// settings and the directory for state may be the same.
type Dirs struct {
	// Config contains the file that users edit: config.json.
	Config string
	// State contains the files that opentabs writes: the token, server.json,
	// plugins.json, the server's log and the unpacked extension.
	State string
}

// FindDirs returns the directories, which need not exist. getenv is os.Getenv except in
// tests. If $OPENTABS_HOME is set, FindDirs returns that directory for settings and
// state. Without $OPENTABS_HOME, the directories are named opentabs, in the operating
// system's directories for settings and state.
func FindDirs(getenv func(string) string) (Dirs, error) {
	if home := getenv(HomeVariable); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return Dirs{}, fmt.Errorf("find the directory %s=%s: %w", HomeVariable, home, err)
		}
		return Dirs{Config: abs, State: abs}, nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Dirs{}, fmt.Errorf("find the configuration directory: %w (set %s to a directory)", err, HomeVariable)
	}
	state, err := stateDir(runtime.GOOS, getenv)
	if err != nil {
		return Dirs{}, err
	}
	return Dirs{Config: filepath.Join(config, "opentabs"), State: filepath.Join(state, "opentabs")}, nil
}

// stateDir returns the directory of the operating system goos for program state.
func stateDir(goos string, getenv func(string) string) (string, error) {
	variable, subdirs := "HOME", []string{".local", "state"}
	switch goos {
	case "windows":
		variable, subdirs = "LocalAppData", nil
	case "darwin", "ios":
		subdirs = []string{"Library", "Application Support"}
	default:
		// The XDG specification requires that relative paths are ignored.
		if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	base := getenv(variable)
	if base == "" {
		return "", fmt.Errorf("find the state directory: %s is not set (set %s to a directory)", variable, HomeVariable)
	}
	return filepath.Join(append([]string{base}, subdirs...)...), nil
}

// Make creates missing directories, and removes the access of other users to the
// directories and to the files with secrets. Make returns a warning for each mode that
// it corrected. Make rejects the directories that [MakePrivate] rejects.
func (d Dirs) Make() (warnings []string, err error) {
	for _, dir := range []string{d.Config, d.State} {
		dirWarnings, err := MakePrivate(dir)
		warnings = append(warnings, dirWarnings...)
		if err != nil {
			return warnings, err
		}
		if d.Config == d.State {
			break
		}
	}
	for _, file := range []string{d.ConfigFile(), d.TokenFile(), d.ClientsFile(), d.serverFile()} {
		warnings = append(warnings, restrictAccess(file, 0o600)...)
	}
	return warnings, nil
}

// ConfigFile is the path of the settings.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// TokenFile is the path of the administrator's token.
func (d Dirs) TokenFile() string { return filepath.Join(d.State, "token") }

// ClientsFile is the path of the tokens of MCP clients.
func (d Dirs) ClientsFile() string { return filepath.Join(d.State, "clients.json") }

// PairingFile returns the path of the file that stores the keys of paired browsers.
func (d Dirs) PairingFile() string { return filepath.Join(d.State, "paired-browsers.json") }

// BrowsersFile returns the path of the file that stores the names of browsers.
func (d Dirs) BrowsersFile() string { return filepath.Join(d.State, "browsers.json") }

// serverFile is the path of the running server's record.
func (d Dirs) serverFile() string { return filepath.Join(d.State, "server.json") }

// LogFile is the path of the log of a server that was started in the
// background.
func (d Dirs) LogFile() string { return filepath.Join(d.State, "serve.log") }

// ExtensionDir is the default directory of the unpacked extension.
func (d Dirs) ExtensionDir() string { return filepath.Join(d.State, "extension") }

// ExtensionRecord is the path of the file that stores where the extension was written.
func (d Dirs) ExtensionRecord() string { return filepath.Join(d.State, "extension.json") }

// FilesDir returns the directory of the files that browser tools write.
func (d Dirs) FilesDir() string { return filepath.Join(d.State, "files") }

// SetupDir returns the directory in which setup stores backups of the changed
// configurations of MCP clients.
func (d Dirs) SetupDir() string { return filepath.Join(d.State, "setup") }

// lockFile is locked while a server starts.
func (d Dirs) lockFile() string { return filepath.Join(d.State, "start.lock") }
