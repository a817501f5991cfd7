package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/jsbuild"
	"opentabs/internal/scriptcheck"
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
	// loaded is closed when the plugins are loaded; nil if they are.
	loaded  <-chan struct{}
	checked *scriptcheck.Cache

	writing sync.Mutex // makes two writeFiles follow one another

	mu    sync.Mutex        // guards files
	files map[string]string // the path in the extension's folder, by plugin name
}

var _ wsbridge.Adapters = (*adapters)(nil)

func newAdapters(registry *plugin.Registry, policy *plugin.Policy, dirs config.Dirs, log zerolog.Logger) *adapters {
	return &adapters{
		registry: registry, policy: policy, dirs: dirs, log: log, host: jsbuild.Host,
		checked: scriptcheck.New(dirs, log), files: map[string]string{},
	}
}

// script is what a browser should have of one plugin.
type script struct {
	info     wire.PluginInfo
	plugin   *plugin.Plugin
	settings wire.PluginSettings
}

// current returns the scripts of the plugins that may run: no page gets the code
// of another.
func (a *adapters) current() []script {
	scripts := []script{}
	running := a.running()
	if len(running) == 0 { // then the host is not bundled
		return scripts
	}
	host, err := a.hostName()
	if err != nil {
		a.log.Error().Err(err).Msg("no page gets an adapter")
		return scripts
	}
	for _, one := range running {
		scripts = append(scripts, a.scriptOf(one, host))
	}
	return scripts
}

// running returns the plugins that may run.
func (a *adapters) running() []*plugin.Plugin {
	return slices.DeleteFunc(a.registry.Set().Plugins(), func(one *plugin.Plugin) bool { return !a.policy.Runs(one) })
}

// Hashes returns the adapters' hashes of the plugins that may run, by name. Unlike
// List it takes no time, and does not wait for the plugins to be loaded.
func (a *adapters) Hashes() map[string]string {
	hashes := map[string]string{}
	for _, one := range a.running() {
		hashes[one.Name] = one.Hash
	}
	return hashes
}

// hostName names the host that scripts are composed with.
func (a *adapters) hostName() (string, error) {
	host, err := a.host()
	if err != nil {
		return "", fmt.Errorf("bundle the host: %w", err)
	}
	sum := sha256.Sum256(host)
	return hex.EncodeToString(sum[:]), nil
}

func (a *adapters) scriptOf(one *plugin.Plugin, host string) script {
	s := script{info: one.Info(), plugin: one, settings: a.registry.Values().ForPage(one, a.policy.IsRestricted(one))}
	s.info.Dev, s.info.Base = a.dev.has(one), s.base()
	s.info.Script = s.id(host)
	return s
}

// id names the script. Chrome keeps scripts by their id or path, so that other
// content needs another name: each part of it counts.
func (s script) id(host string) string {
	parts, err := json.Marshal([]any{host, s.options(), s.plugin.PreScriptHash})
	if err != nil {
		panic("opentabs: settings that are no JSON: " + err.Error()) // they were encoded here
	}
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:8])
}

func (s script) options() jsbuild.ScriptOptions {
	return jsbuild.ScriptOptions{
		Name: s.info.Name, Hash: s.info.Hash, Settings: s.settings, Start: s.start(), Frames: s.info.Frames,
		Base: s.info.Base,
	}
}

// start is when the adapter starts, empty if its code decides. The existing tool
// chain starts adapters when the document is there, and they may rely on it.
func (s script) start() jsbuild.StartAt {
	switch p := s.plugin; {
	case p.Start == plugin.StartAtOnce:
		return jsbuild.StartNow
	case p.Start == plugin.StartIdle, p.Legacy:
		return jsbuild.StartAtDOM
	}
	return ""
}

// base names what stays in a document when another adapter takes the place of
// the one that is live there.
func (s script) base() string {
	sum := sha256.Sum256([]byte(string(s.info.World) + " " + s.plugin.PreScriptHash))
	return hex.EncodeToString(sum[:8])
}

// How long calls that run may take to end before their adapter is replaced. An
// author who has saved a file waits for the new code.
const (
	swapWait    = 30 * time.Second
	swapWaitDev = time.Second
)

// swapWait is the time for the calls of one plugin.
func (s script) swapWait() time.Duration {
	if s.info.Dev {
		return swapWaitDev
	}
	return swapWait
}

// List returns every plugin that a browser should have. It waits until they are
// loaded: of an empty list a browser would remove all that it has.
func (a *adapters) List() []wire.PluginInfo {
	if a.loaded != nil {
		<-a.loaded
	}
	infos := []wire.PluginInfo{}
	for _, s := range a.current() {
		infos = append(infos, s.info)
	}
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
func (a *adapters) Code(name, id string) (wire.PluginCodeParams, error) {
	host, err := a.hostName()
	if err != nil {
		return wire.PluginCodeParams{}, err
	}
	one, ok := a.registry.Set().Plugin(name)
	if !ok || !a.policy.Runs(one) {
		return wire.PluginCodeParams{}, fmt.Errorf("the plugin %q may not run", name)
	}
	s := a.scriptOf(one, host)
	if s.info.Script != id {
		return wire.PluginCodeParams{}, fmt.Errorf("the plugin %q has another script by now than %q", name, id)
	}
	code, err := a.compose(s)
	if err != nil {
		return wire.PluginCodeParams{}, err
	}
	return wire.PluginCodeParams{
		Name: name, Hash: s.info.Hash, Script: id, Code: string(code.whole),
		Hot: &wire.HotCode{
			Adapter: string(jsbuild.AdapterFunction(code.adapter)), WaitMs: int(s.swapWait().Milliseconds()),
		},
	}, nil
}

// Fetch returns the parts of the script that runs a plugin's adapter, or the
// host.
func (a *adapters) Fetch(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
	host, err := a.hostName()
	if err != nil {
		return wire.PluginFetchResult{}, err
	}
	if p.Name == "" {
		code, err := a.host()
		if err == nil && p.Script != host {
			err = errors.New("the server has another host now; sync the plugins first")
		}
		return wire.PluginFetchResult{Code: string(code)}, err
	}
	one, ok := a.registry.Set().Plugin(p.Name)
	if !ok || !a.policy.Runs(one) {
		return wire.PluginFetchResult{}, fmt.Errorf("the plugin %q may not run", p.Name)
	}
	s := a.scriptOf(one, host)
	if s.info.Script != p.Script {
		return wire.PluginFetchResult{}, fmt.Errorf("the plugin %q has another script now; sync the plugins first", p.Name)
	}
	adapter, preScript, err := a.codes(s)
	if err != nil {
		return wire.PluginFetchResult{}, err
	}
	parts := jsbuild.PartsOf(s.options(), adapter, preScript)
	return wire.PluginFetchResult{Code: string(parts.Adapter), Options: string(parts.Options), PreScript: string(parts.PreScript)}, nil
}

// Host names the code of the host; empty if there is none.
func (a *adapters) Host() string {
	name, err := a.hostName()
	if err != nil {
		return "" // current has logged it
	}
	return name
}

// composed is the text of a script, and of the adapter alone.
type composed struct{ whole, adapter []byte }

// compose writes the script, of parts that stay inside it.
func (a *adapters) compose(s script) (composed, error) {
	adapter, preScript, err := a.codes(s)
	if err != nil {
		return composed{}, err
	}
	host, err := a.host()
	if err != nil {
		return composed{}, fmt.Errorf("bundle the host: %w", err)
	}
	return composed{whole: jsbuild.WrapAdapter(host, s.options(), adapter, preScript), adapter: adapter}, nil
}

// refuse notes that no page gets the code of a plugin.
func (a *adapters) refuse(s script, err error) error {
	a.registry.Faults().Failed(s.plugin, err.Error(), "", "")
	return err
}

// codes returns the codes of the adapter and of the pre-script, which may be
// empty. It fails if one would leave the function that it is put in.
func (a *adapters) codes(s script) (adapter, preScript []byte, err error) {
	if adapter, err = s.plugin.Adapter(); err != nil {
		return nil, nil, err
	}
	if err := a.checked.Check(adapter); err != nil {
		return nil, nil, a.refuse(s, fmt.Errorf("the adapter of %s may not run: %w; build the plugin again and add it", s.info.Name, err))
	}
	if preScript, err = s.plugin.PreScriptCode(); err != nil {
		return nil, nil, err
	}
	if len(preScript) > 0 {
		if err := a.checked.Check(preScript); err != nil {
			return nil, nil, a.refuse(s, fmt.Errorf("the pre-script of %s may not run: %w; build the plugin again and add it", s.info.Name, err))
		}
	}
	return adapter, preScript, nil
}

// writeFiles makes the extension's folder hold the current adapters and no
// others. Without an extension's folder it does nothing. A browser without user
// scripts runs these files.
func (a *adapters) writeFiles() error {
	folder, ok := extensiondir.Find(a.dirs)
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
	for _, one := range a.current() {
		name := one.info.Name + "-" + one.info.Script + ".js"
		if err := a.writeFile(filepath.Join(folder, name), one); err != nil {
			failed = append(failed, fmt.Errorf("write the adapter of %s: %w", one.info.Name, err))
			continue
		}
		files[one.info.Name], current[name] = adapterFolder+"/"+name, true
	}
	a.mu.Lock()
	a.files = files
	a.mu.Unlock()
	return errors.Join(errors.Join(failed...), removeOthers(folder, current))
}

// writeFile writes one script unless it is there: its name says what is in it.
func (a *adapters) writeFile(path string, s script) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	code, err := a.compose(s)
	if err != nil {
		return err
	}
	return statefile.Write(path, code.whole)
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
