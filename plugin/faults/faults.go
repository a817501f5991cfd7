// Package faults records adapters that fail to start in browsers.
//
// [Open] reads the recorded faults from the state folder. [Faults.ClearFault] and
// [Faults.RecordFault] record whether adapters start. [Faults.Gate] blocks calls of plugins
// whose code reaches no page.
//
// # Concurrency
//
// Faults is safe for concurrent use. Faults.mu guards the faults and listeners.
// Faults.saveLock is locked while the file of faults is written. Lock order in package
// faults: Faults.saveLock, then Faults.mu. No lock is held while listeners of Faults run.
package faults

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/errtext"
	"opentabs/internal/rawjson"
	"opentabs/internal/statefile"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	// faultsFile is the name of the file in the state folder that stores faults.
	faultsFile = "plugin-faults.json"
	// maxFaults is the maximum number of stored faults of one plugin.
	maxFaults = 8
	// maxFaultsBytes is the maximum size of the file that stores faults, in bytes.
	maxFaultsBytes = 4 << 20
)

// Fault describes why an adapter did not start in a page.
type Fault struct {
	// Content is the content hash of the plugin whose adapter did not start.
	Content string `json:"content"`
	// Problem is a sentence without a period, such as "the adapter threw while it
	// started: x is not defined". Problem may contain text from the plugin.
	Problem string `json:"problem"`
	// Site is the origin of the page. The field Site is empty if the plugin's code
	// reached no page.
	Site string `json:"site,omitempty"`
	// Browser is the name of the browser in which the adapter did not start.
	Browser string    `json:"browser,omitempty"`
	At      time.Time `json:"at"`
}

// Text returns a sentence with the problem of the adapter and the site of the page.
func (f Fault) Text() string {
	if f.Site == "" {
		return f.Problem
	}
	return fmt.Sprintf("did not start in a page of %s: %s", f.Site, f.Problem)
}

// Faults stores the faults of adapters by plugin and content. A fault applies only while the
// plugin has the content that caused the fault. A fault ends when an adapter with the same
// content starts in a page. Commands read the faults from a file in the state folder.
type Faults struct {
	path string
	log  zerolog.Logger

	saveLock sync.Mutex // saveLock is locked while the file of faults is written

	mu             sync.Mutex // the mutex guards all fields below
	faultsByPlugin map[string][]Fault
	listeners      []func()
}

// Open returns the faults that are stored in the state folder dir. Open ignores an
// unreadable file of faults.
func Open(dir string, log zerolog.Logger) *Faults {
	f := &Faults{path: filepath.Join(dir, faultsFile), log: log, faultsByPlugin: map[string][]Fault{}}
	if fileInfo, err := os.Stat(f.path); err != nil || fileInfo.Size() > maxFaultsBytes {
		return f
	}
	faultsJSON, err := os.ReadFile(f.path)
	if err == nil {
		err = json.Unmarshal(faultsJSON, &f.faultsByPlugin)
	}
	if err != nil || f.faultsByPlugin == nil {
		f.faultsByPlugin = map[string][]Fault{}
	}
	return f
}

// FindFault returns the fault of the plugin's current content. FindFault returns false if the
// content has no fault.
func (f *Faults) FindFault(p *plugin.Plugin) (Fault, bool) {
	content := p.ContentHash()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.faultsByPlugin[p.Name] {
		if fault.Content == content {
			return fault, true
		}
	}
	return Fault{}, false
}

// OnChange registers a function that runs after each change of the faults. The registered
// function must not block, because it runs on the goroutine that changes the faults.
func (f *Faults) OnChange(listener func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners = append(f.listeners, listener)
}

// RecordFault records that the adapter of p did not start in the page with the given URL. An
// empty URL means that the code of the adapter reached no page.
func (f *Faults) RecordFault(p *plugin.Plugin, problemText, pageURL, browser string) {
	site := ""
	if u, err := url.Parse(pageURL); err == nil && u.Host != "" {
		site = u.Scheme + "://" + u.Host
	}
	fault := Fault{Content: p.ContentHash(), Problem: problemText, Site: site, Browser: browser, At: time.Now().UTC().Truncate(time.Second)}
	f.change(func() bool {
		pluginFaults := f.faultsByPlugin[p.Name]
		for _, pluginFault := range pluginFaults {
			if pluginFault.Content == fault.Content && pluginFault.Problem == problemText && pluginFault.Site == site {
				return false
			}
		}
		pluginFaults = slices.DeleteFunc(slices.Clone(pluginFaults), func(pluginFault Fault) bool { return pluginFault.Content == fault.Content })
		pluginFaults = append(pluginFaults, fault)
		f.faultsByPlugin[p.Name] = pluginFaults[max(0, len(pluginFaults)-maxFaults):]
		return true
	})
}

// ClearFault records that the adapter of p has started in a page.
func (f *Faults) ClearFault(p *plugin.Plugin) {
	f.mu.Lock()
	hasNoFaults := len(f.faultsByPlugin[p.Name]) == 0
	f.mu.Unlock()
	if hasNoFaults {
		return
	}
	content := p.ContentHash()
	f.change(func() bool {
		pluginFaults := f.faultsByPlugin[p.Name]
		otherFaults := slices.DeleteFunc(slices.Clone(pluginFaults), func(fault Fault) bool { return fault.Content == content })
		if len(otherFaults) == 0 {
			delete(f.faultsByPlugin, p.Name)
		} else {
			f.faultsByPlugin[p.Name] = otherFaults
		}
		return len(otherFaults) < len(pluginFaults)
	})
}

func (f *Faults) change(editContent func() bool) {
	f.mu.Lock()
	hasChanged, listeners := editContent(), slices.Clone(f.listeners)
	f.mu.Unlock()
	if !hasChanged {
		return
	}
	f.save()
	for _, listener := range listeners {
		listener()
	}
}

// Gate returns a gate that blocks calls of plugins whose code reached no page. If a
// plugin's code reaches a page, the host in the page reports the fault. The function currentPlugins
// returns the current set of plugins.
func (f *Faults) Gate(currentPlugins func() *plugin.Set) dispatch.Gate {
	return faultsGate{f, currentPlugins}
}

type faultsGate struct {
	faults         *Faults
	currentPlugins func() *plugin.Set
}

func (faultsGate) Name() string { return "faults" }

func (g faultsGate) Decide(in dispatch.CallInfo) dispatch.Verdict {
	loadedPlugin, ok := g.currentPlugins().Plugin(in.Tool.Plugin)
	if !ok {
		return dispatch.Verdict{}
	}
	if fault, isFaulty := g.faults.FindFault(loadedPlugin); isFaulty && fault.Site == "" {
		return dispatch.NewBlockVerdict(wire.ErrPluginBroken, fmt.Sprintf("the plugin %s can't run: %s", loadedPlugin.Name, fault.Problem),
			errtext.AppendNextUserStep(wire.ErrPluginBroken, fmt.Sprintf("The plugin %s can't run: %s.", loadedPlugin.Name, strings.TrimRight(fault.Problem, "."))))
	}
	return dispatch.Verdict{}
}

func (f *Faults) save() {
	f.saveLock.Lock()
	defer f.saveLock.Unlock()
	f.mu.Lock()
	faultsJSON := rawjson.Encode(f.faultsByPlugin)
	f.mu.Unlock()
	err := os.MkdirAll(filepath.Dir(f.path), 0o700)
	if err == nil {
		err = statefile.Write(f.path, append(faultsJSON, '\n'))
	}
	if err != nil {
		f.log.Warn().Err(err).Msg("could not save which plugins do not start")
	}
}
