package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// HomeVariable names the environment variable that, if it is set, is the one
// directory for everything opentabs keeps.
const HomeVariable = "OPENTABS_HOME"

// Dirs are the directories that opentabs keeps its files in. They may be the
// same one.
type Dirs struct {
	// Config holds what a person edits: config.json.
	Config string
	// State holds what opentabs writes: the token, server.json, plugins.json,
	// the server's log and the unpacked extension.
	State string
}

// FindDirs returns the directories, which need not exist. getenv is os.Getenv
// but for tests. Both are $OPENTABS_HOME if that is set; otherwise they are
// named opentabs and lie where the operating system wants such files.
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

// stateDir is the directory in which goos wants programs to keep their state.
func stateDir(goos string, getenv func(string) string) (string, error) {
	variable, below := "HOME", []string{".local", "state"}
	switch goos {
	case "windows":
		variable, below = "LocalAppData", nil
	case "darwin", "ios":
		below = []string{"Library", "Application Support"}
	default:
		// The XDG specification says that a relative path is to be ignored.
		if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	base := getenv(variable)
	if base == "" {
		return "", fmt.Errorf("find the state directory: %s is not set (set %s to a directory)", variable, HomeVariable)
	}
	return filepath.Join(append([]string{base}, below...)...), nil
}

// Make creates the directories where they are missing and closes them, and the
// files in them that hold secrets, to other users. It returns a sentence for
// each mode it had to correct, and refuses what [MakePrivate] refuses.
func (d Dirs) Make() (warnings []string, err error) {
	for _, dir := range []string{d.Config, d.State} {
		said, err := MakePrivate(dir)
		warnings = append(warnings, said...)
		if err != nil {
			return warnings, err
		}
		if d.Config == d.State {
			break
		}
	}
	for _, file := range []string{d.ConfigFile(), d.TokenFile(), d.ClientsFile(), d.serverFile()} {
		warnings = append(warnings, tighten(file, 0o600)...)
	}
	return warnings, nil
}

// ConfigFile is the path of the settings.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// TokenFile is the path of the administrator's token.
func (d Dirs) TokenFile() string { return filepath.Join(d.State, "token") }

// ClientsFile is the path of the tokens of MCP clients.
func (d Dirs) ClientsFile() string { return filepath.Join(d.State, "clients.json") }

// serverFile is the path of the running server's record.
func (d Dirs) serverFile() string { return filepath.Join(d.State, "server.json") }

// LogFile is the path of the log of a server that was started in the
// background.
func (d Dirs) LogFile() string { return filepath.Join(d.State, "serve.log") }

// ExtensionDir is where the unpacked extension is written unless the person
// names another place.
func (d Dirs) ExtensionDir() string { return filepath.Join(d.State, "extension") }

// ExtensionRecord is the path of the file that stores where the extension was written.
func (d Dirs) ExtensionRecord() string { return filepath.Join(d.State, "extension.json") }

// lockFile is locked while a server starts.
func (d Dirs) lockFile() string { return filepath.Join(d.State, "start.lock") }
