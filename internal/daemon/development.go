package daemon

import (
	"sync"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// devFolders are the folders of plugins for which `opentabs plugin dev` runs.
// devFolders is safe for concurrent use.
type devFolders struct {
	mu    sync.Mutex // guards all fields below
	byDir map[string]*devFolder
}

// devFolder is the state of one plugin folder under development.
type devFolder struct {
	runningCommands int // number of running `plugin dev` commands
	permission      wire.Permission
}

func newDevFolders() *devFolders { return &devFolders{byDir: map[string]*devFolder{}} }

// add counts one more command for dir and reports whether no other command runs for
// dir.
func (f *devFolders) add(dir string, permission wire.Permission) (isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := f.byDir[dir]
	if folder == nil {
		folder = &devFolder{}
		f.byDir[dir] = folder
	}
	folder.runningCommands++
	folder.permission = permission
	return folder.runningCommands == 1
}

// remove subtracts one command for dir and reports whether no command remains.
func (f *devFolders) remove(dir string) (isLast bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byDir[dir].runningCommands--
	isLast = f.byDir[dir].runningCommands == 0
	if isLast {
		delete(f.byDir, dir)
	}
	return isLast
}

// has reports whether loadedPlugin is under development. A plugin of the same name in
// another folder is not under development.
func (f *devFolders) has(loadedPlugin *plugin.Plugin) bool {
	_, ok := f.permission(loadedPlugin)
	return ok
}

// permission returns the permission of a plugin under development for which the user
// has set no permission. The daemon sets policy.Options.Trusted to the method
// permission, so that the plugin counts as reviewed between two builds.
func (f *devFolders) permission(loadedPlugin *plugin.Plugin) (wire.Permission, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := f.byDir[loadedPlugin.Dir]
	if folder == nil || loadedPlugin.Source != plugin.SourceFolder {
		return "", false
	}
	return folder.permission, true
}

// development sends the builds of `opentabs plugin dev` to pages. The user who runs the
// command is the author of the plugin, so its builds count as reviewed. development is
// safe for concurrent use.
type development struct {
	folders *devFolders
	plugins *plugins
	// onChange is called when the set of plugins under development changes.
	onChange func()
	log      zerolog.Logger

	reviewLock sync.Mutex // held while reviews are recorded
}

func newDevelopment(folders *devFolders, p *plugins, onChange func(), log zerolog.Logger) *development {
	return &development{folders: folders, plugins: p, onChange: onChange, log: log}
}

// begin puts the plugin in dir, an absolute path, under development until end is
// called. permission applies if the user has set no permission for the plugin.
func (d *development) begin(dir string, permission wire.Permission) (end func(), err error) {
	if _, err := policy.ParsePermission(string(permission)); err != nil {
		return nil, err
	}
	isFirst := d.folders.add(dir, permission)
	d.review()
	if isFirst {
		d.onChange()
	}
	return func() { d.end(dir) }, nil
}

func (d *development) end(dir string) {
	d.review() // the last build stays reviewed after development ends
	if d.folders.remove(dir) {
		d.onChange()
	}
}

// review records the current builds under development as reviewed, so that the builds
// stay reviewed after development ends. review does not change a permission that the
// user has set.
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

// reviewLater starts review in a goroutine. reviewLater runs when the registry changes,
// and returns at once, because pages must not wait until a review is stored.
func (d *development) reviewLater(*plugin.Set) { go d.review() }
