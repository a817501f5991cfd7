package install

import (
	"errors"

	"opentabs/internal/home"
	"opentabs/internal/usererr"
	"opentabs/plugin"
)

// Remove removes a plugin from the list of installed plugins. The argument name is the name of the plugin or of its
// package. The files of the plugin remain on the disk until the daemon has reloaded its plugins and [RemoveUnused] is
// called.
func Remove(h *home.Home, name string) (plugin.Entry, error) {
	store := h.PluginStore()
	// The error of store.Entries is ignored, because store.Remove returns the same error
	// and repairs the file.
	storeEntries, _ := store.Entries()
	e := findEntry(storeEntries, name)
	if e.Name == "" {
		if err := checkNotInstalledByNPM(h, name); err != nil {
			return e, err
		}
		e.Name = name
	}
	err := store.Remove(e.Name)
	if errors.Is(err, plugin.ErrUnknown) {
		err = usererr.Errorf("%v", err)
	}
	return e, err
}

// Only npm can remove a plugin that npm has installed globally.
func checkNotInstalledByNPM(h *home.Home, name string) error {
	registry, err := h.Plugins()
	if err != nil {
		return err
	}
	if loadedPlugin, ok := registry.Set().Plugin(name); ok && loadedPlugin.Source == plugin.SourceGlobal {
		return usererr.Errorf("%s was installed with npm: run `npm uninstall --global %s`, or turn such plugins off with the setting discoverGlobal (\"off\")", name, loadedPlugin.Package)
	}
	return nil
}
