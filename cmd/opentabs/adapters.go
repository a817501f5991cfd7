package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/jsbuild"
	"opentabs/internal/statefile"
	"opentabs/plugin"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// adapterFolder is the folder of the unpacked extension that holds the
// adapters for a browser without user scripts.
const adapterFolder = "adapters"

// adapters gives browsers the plugins' code, each adapter wrapped in the host
// that runs it. It is safe for concurrent use.
type adapters struct {
	registry *plugin.Registry
	policy   *plugin.Policy
	dev      *developing // nil if none is developed here
	dirs     config.Dirs
	log      zerolog.Logger
	host     func() ([]byte, error)
	checked  *checkedScripts

	writing sync.Mutex // makes two writeFiles follow one another

	mu    sync.Mutex        // guards files
	files map[string]string // the path in the extension's folder, by plugin name
}

var _ wsbridge.Adapters = (*adapters)(nil)

func newAdapters(registry *plugin.Registry, policy *plugin.Policy, dirs config.Dirs, log zerolog.Logger) *adapters {
	return &adapters{
		registry: registry, policy: policy, dirs: dirs, log: log, host: jsbuild.Host,
		checked: newCheckedScripts(dirs, log), files: map[string]string{},
	}
}

// current returns the plugins that may run: no page gets the code of another.
func (a *adapters) current() []wire.PluginInfo {
	infos := []wire.PluginInfo{}
	host, err := a.host()
	if err != nil {
		a.log.Error().Err(err).Msg("the host can't be bundled, so no page gets an adapter")
		return infos
	}
	for _, one := range a.registry.Set().Plugins() {
		if a.policy.Runs(one) {
			info := one.Info()
			info.Dev = a.dev.has(one)
			info.Script = scriptID(info.Hash, host)
			infos = append(infos, info)
		}
	}
	return infos
}

// List returns every plugin that a browser should have.
func (a *adapters) List() []wire.PluginInfo {
	infos := a.current()
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range infos {
		infos[i].File = a.files[infos[i].Name]
	}
	return infos
}

// Code returns the script that runs a plugin's adapter. It fails if the adapter
// would not stay inside it: an older version, or another hand, may have added
// it without the check.
func (a *adapters) Code(name, script string) (wire.PluginCodeParams, error) {
	for _, info := range a.current() {
		if info.Name == name && info.Script == script {
			code, err := a.code(info)
			return wire.PluginCodeParams{Name: name, Hash: info.Hash, Script: script, Code: code}, err
		}
	}
	return wire.PluginCodeParams{}, fmt.Errorf("the plugin %q has no script %q (any more)", name, script)
}

func (a *adapters) code(info wire.PluginInfo) (string, error) {
	code, err := a.registry.Code(info.Name, info.Hash)
	if err != nil {
		return "", err
	}
	if err := a.checked.Check([]byte(code)); err != nil {
		return "", fmt.Errorf("the adapter of %s may not run: %w; build the plugin again and add it", info.Name, err)
	}
	host, err := a.host()
	if err != nil {
		return "", fmt.Errorf("bundle the host: %w", err)
	}
	return string(jsbuild.WrapAdapter(host, info.Name, info.Hash, []byte(code))), nil
}

// writeFiles makes the extension's folder hold the current adapters and no
// others. Without an extension's folder it does nothing. A browser without user
// scripts runs these files.
func (a *adapters) writeFiles() error {
	folder, ok := extensionFolder(a.dirs)
	if !ok {
		return nil
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	folder = filepath.Join(folder, adapterFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("write the adapters: %w", err)
	}
	files, current := map[string]string{}, map[string]bool{}
	var failed []error
	for _, info := range a.current() {
		name := info.Name + "-" + info.Script + ".js"
		if err := a.writeFile(filepath.Join(folder, name), info); err != nil {
			failed = append(failed, fmt.Errorf("write the adapter of %s: %w", info.Name, err))
			continue
		}
		files[info.Name], current[name] = adapterFolder+"/"+name, true
	}
	a.mu.Lock()
	a.files = files
	a.mu.Unlock()
	return errors.Join(errors.Join(failed...), removeOthers(folder, current))
}

// writeFile writes one adapter unless it is there: its name says what is in it.
func (a *adapters) writeFile(path string, info wire.PluginInfo) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	code, err := a.code(info)
	if err != nil {
		return err
	}
	return statefile.Write(path, []byte(code))
}

// scriptID names the script of an adapter. Chrome keeps scripts by their id or
// path, so that other content needs another name: other code, or another host.
func scriptID(hash string, host []byte) string {
	sum := sha256.Sum256(append([]byte(hash), host...))
	return hex.EncodeToString(sum[:8])
}

// removeOthers removes the scripts that are not current.
func removeOthers(folder string, current map[string]bool) error {
	statefile.RemoveLeftovers(folder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("remove old adapters: %w", err)
	}
	var failed []error
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".js") && !current[e.Name()] {
			failed = append(failed, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return errors.Join(failed...)
}
