// Package catalog connects the installed plugins with the user's settings and with the
// faults of adapters.
package catalog

import (
	"path/filepath"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/plugin"
	"opentabs/plugin/faults"
	"opentabs/plugin/settings"
)

// Catalog is a plugin registry in which each plugin runs only in the sites that the user
// has set for the plugin. Create a Catalog with [New]. A Catalog is immutable and safe
// for concurrent use.
type Catalog struct {
	*plugin.Registry
	settingValues *settings.Values
	faults        *faults.Faults
}

// New returns the catalog of the plugins that are installed in store. Call
// [plugin.Registry.Reload] to load the plugins.
func New(store *plugin.Store, settingValues *settings.Values, log zerolog.Logger) *Catalog {
	registry := plugin.NewRegistry(store, log)
	registry.SetSiteSource(settingValues.Instances)
	registry.SetBuiltinPlugins(browser.Plugin())
	return &Catalog{Registry: registry, settingValues: settingValues, faults: faults.Open(filepath.Dir(store.Path()), log)}
}

// Values returns the user's settings of the plugins.
func (c *Catalog) Values() *settings.Values { return c.settingValues }

// Faults returns the recorded faults of adapters.
func (c *Catalog) Faults() *faults.Faults { return c.faults }
