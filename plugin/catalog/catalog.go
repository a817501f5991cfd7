// Package catalog connects the installed plugins with the user's settings for them
// and with the faults of their adapters.
package catalog

import (
	"path/filepath"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/plugin"
	"opentabs/plugin/faults"
	"opentabs/plugin/settings"
)

// Catalog is a registry whose plugins work in the sites that the user has set. Create a
// Catalog with [New]. A Catalog is safe for concurrent use: its parts are safe for
// concurrent use, and the Catalog itself never changes.
type Catalog struct {
	*plugin.Registry
	values *settings.Values
	faults *faults.Faults
}

// New returns the catalog of the plugins in store. Call [plugin.Registry.Reload] to
// load the plugins.
func New(store *plugin.Store, values *settings.Values, log zerolog.Logger) *Catalog {
	registry := plugin.NewRegistry(store, log)
	registry.UseSites(values.Instances)
	registry.UseBuiltins(browser.Plugin())
	return &Catalog{Registry: registry, values: values, faults: faults.Open(filepath.Dir(store.Path()), log)}
}

// Values returns the settings of the plugins.
func (c *Catalog) Values() *settings.Values { return c.values }

// Faults returns the faults of the adapters.
func (c *Catalog) Faults() *faults.Faults { return c.faults }
