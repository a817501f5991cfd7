package config

import (
	"errors"
	"fmt"
	"io/fs"
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
// each mode it had to correct.
func (d Dirs) Make() (warnings []string, err error) {
	for _, dir := range []string{d.Config, d.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return warnings, fmt.Errorf("create %s: %w", dir, err)
		}
		warnings = append(warnings, tighten(dir, 0o700)...)
		if d.Config == d.State {
			break
		}
	}
	for _, file := range []string{d.ConfigFile(), d.TokenFile(), d.ServerFile()} {
		warnings = append(warnings, tighten(file, 0o600)...)
	}
	return warnings, nil
}

// tighten takes other users' rights to path away. Windows has no such modes:
// the directories lie in the user's profile, which is closed already.
func tighten(path string, mode fs.FileMode) (warnings []string) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	was := info.Mode().Perm()
	if err := os.Chmod(path, mode); err != nil {
		return []string{fmt.Sprintf("other users can open %s (mode %04o): run chmod %o %s", path, was, mode, path)}
	}
	return []string{fmt.Sprintf("other users could open %s (mode %04o); its mode is now %04o", path, was, mode)}
}

// ConfigFile is the path of the settings.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// TokenFile is the path of the bearer token.
func (d Dirs) TokenFile() string { return filepath.Join(d.State, "token") }

// ServerFile is the path of the running server's record.
func (d Dirs) ServerFile() string { return filepath.Join(d.State, "server.json") }

// LogFile is the path of the log of a server that was started in the
// background.
func (d Dirs) LogFile() string { return filepath.Join(d.State, "serve.log") }

// ExtensionDir is where the unpacked extension is written unless the person
// names another place.
func (d Dirs) ExtensionDir() string { return filepath.Join(d.State, "extension") }

// ExtensionRecord is the path of the note where the extension was written.
func (d Dirs) ExtensionRecord() string { return filepath.Join(d.State, "extension.json") }

// lockFile is locked while a server starts.
func (d Dirs) lockFile() string { return filepath.Join(d.State, "start.lock") }

// WriteFile replaces the file at path by data, so that a reader, also after a
// crash, sees the old or the new content and nothing between. Its mode is
// 0600.
func WriteFile(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(temp))
	}
	return nil
}

// writeTemp writes data to a new file beside path and returns its name.
// os.CreateTemp gives it mode 0600.
func writeTemp(path string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}
