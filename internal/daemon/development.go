package daemon

import (
	"sync"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// devFolders are the folders of plugins in development mode, that is, while `opentabs
// plugin dev` runs. devFolders is safe for concurrent use.
type devFolders struct {
	mu           sync.Mutex // the mutex guards all fields below
	foldersByDir map[string]*devFolder
}

// devFolder is the folder of one plugin in development mode.
type devFolder struct {
	devCommandCount int
	permission      wire.Permission
}

func newDevFolders() *devFolders { return &devFolders{foldersByDir: map[string]*devFolder{}} }

func (f *devFolders) add(dir string, permission wire.Permission) (isFirstCommand bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := f.foldersByDir[dir]
	if folder == nil {
		folder = &devFolder{}
		f.foldersByDir[dir] = folder
	}
	folder.devCommandCount++
	folder.permission = permission
	return folder.devCommandCount == 1
}

func (f *devFolders) remove(dir string) (isLast bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.foldersByDir[dir].devCommandCount--
	isLast = f.foldersByDir[dir].devCommandCount == 0
	if isLast {
		delete(f.foldersByDir, dir)
	}
	return isLast
}

// If another folder contains a plugin with the same name, that plugin is not in development mode.
func (f *devFolders) has(loadedPlugin *plugin.Plugin) bool {
	_, ok := f.permission(loadedPlugin)
	return ok
}

// The method permission returns the permission that a plugin in development mode has while the user has set none.
// A new build counts as reviewed even before its review is stored, because policy.Options.IsInDevelopment calls
// permission.
func (f *devFolders) permission(loadedPlugin *plugin.Plugin) (wire.Permission, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := f.foldersByDir[loadedPlugin.Dir]
	if folder == nil || loadedPlugin.Source != plugin.SourceFolder {
		return "", false
	}
	return folder.permission, true
}

// The type development sends the builds of `opentabs plugin dev` to pages. Each build
// counts as reviewed, because the user who runs `opentabs plugin dev` is the plugin's
// author. The type development is safe for concurrent use.
type development struct {
	folders *devFolders
	plugins *plugins
	// onChange is called when a plugin enters or leaves development mode.
	onChange func()
	log      zerolog.Logger

	reviewLock sync.Mutex // reviewLock is locked while reviews are stored
}

func newDevelopment(folders *devFolders, p *plugins, onChange func(), log zerolog.Logger) *development {
	return &development{folders: folders, plugins: p, onChange: onChange, log: log}
}

// In development mode, the parameter permission is the plugin's permission if the user has set none.
func (d *development) beginDevelopment(dir string, permission wire.Permission) (endDevelopment func(), err error) {
	if _, err := policy.ParsePermission(string(permission)); err != nil {
		return nil, err
	}
	isFirstCommand := d.folders.add(dir, permission)
	d.review()
	if isFirstCommand {
		d.onChange()
	}
	return func() { d.endSession(dir) }, nil
}

func (d *development) endSession(dir string) {
	d.review() // the last build stays reviewed
	if d.folders.remove(dir) {
		d.onChange()
	}
}

func (d *development) review() {
	d.reviewLock.Lock()
	defer d.reviewLock.Unlock()
	for _, loadedPlugin := range d.plugins.registry.Set().Plugins() {
		permission, ok := d.folders.permission(loadedPlugin)
		state := d.plugins.policy.State(loadedPlugin.Name)
		if !ok || state.Review != nil && state.Review.Hash == loadedPlugin.ContentHash() {
			continue
		}
		if state.Permission != "" {
			permission = state.Permission
		}
		if err := d.plugins.policy.Review(loadedPlugin.Name, loadedPlugin.ContentHash(), permission, "opentabs plugin dev"); err != nil {
			d.log.Error().Err(err).Str("plugin", loadedPlugin.Name).Msg("a new build could not be reviewed")
		}
	}
}

// reviewInBackground must return at once, so that pages do not wait until a review is written to disk.
func (d *development) reviewInBackground(*plugin.Set) { go d.review() }
