package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// HomeVariable names the environment variable for the directory in which opentabs keeps
// all files. If HomeVariable is not set, opentabs uses the standard directories of the
// operating system.
const HomeVariable = "OPENTABS_HOME"

// Dirs are the directories in which opentabs keeps its files. Config and State may be the
// same directory.
type Dirs struct {
	// Config contains config.json, the only file that users edit.
	Config string
	// State contains all files that opentabs writes, such as the token, server.json,
	// plugins.json, the server's log and the unpacked extension.
	State string
}

// FindDirs returns the directories of opentabs, which need not exist. The argument getenv
// is os.Getenv, except in tests. If $OPENTABS_HOME is set, FindDirs returns this
// directory for settings and for state. If $OPENTABS_HOME is not set, FindDirs returns
// the directory "opentabs" in the operating system's directories for settings and for
// state.
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

// CreateDirs creates missing directories. Other users lose access to the directories and to the
// files with secrets. CreateDirs returns a warning for each file mode that it corrected. CreateDirs
// rejects the same directories as [MakePrivate].
func (d Dirs) CreateDirs() (warnings []string, err error) {
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

// ConfigFile returns the path of config.json, which has the user's settings.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// TokenFile returns the path of the file with the administrator token.
func (d Dirs) TokenFile() string { return filepath.Join(d.State, "token") }

// ClientsFile returns the path of the file with the tokens of MCP clients.
func (d Dirs) ClientsFile() string { return filepath.Join(d.State, "clients.json") }

// PairingFile returns the path of the file that stores the keys of paired browsers.
func (d Dirs) PairingFile() string { return filepath.Join(d.State, "paired-browsers.json") }

// BrowsersFile returns the path of the file that stores the names of browsers.
func (d Dirs) BrowsersFile() string { return filepath.Join(d.State, "browsers.json") }

func (d Dirs) serverFile() string { return filepath.Join(d.State, "server.json") }

// LogFile returns the path of the log of a server that runs in the background.
func (d Dirs) LogFile() string { return filepath.Join(d.State, "serve.log") }

// ExtensionDir returns the directory in which the unpacked extension is stored by
// default.
func (d Dirs) ExtensionDir() string { return filepath.Join(d.State, "extension") }

// ExtensionRecord returns the path of the file that stores where the unpacked extension
// is.
func (d Dirs) ExtensionRecord() string { return filepath.Join(d.State, "extension.json") }

// FilesDir returns the directory of the files that browser tools write, such as
// screenshots.
func (d Dirs) FilesDir() string { return filepath.Join(d.State, "files") }

// SetupDir returns the directory in which `opentabs setup` stores backups of MCP clients'
// configuration files.
func (d Dirs) SetupDir() string { return filepath.Join(d.State, "setup") }

func (d Dirs) lockFile() string { return filepath.Join(d.State, "start.lock") }
