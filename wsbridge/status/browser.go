// Package status defines how `opentabs status` describes connected browsers.
package status

import (
	"time"

	"opentabs/wire"
)

// Browser describes one browser in the output of `opentabs status`.
type Browser struct {
	// ID never changes for a Chrome profile. Name is what users call the browser, either
	// given by a user or sent by the extension.
	ID   string `json:"id"`
	Name string `json:"name"`
	// ExtensionVersion is the version of the opentabs extension in the browser.
	ExtensionVersion string `json:"extension_version"`
	// PairingKeyID is the wire.KeyID of the key in the browser's last connection, or ""
	// for the installation's key.
	PairingKeyID string `json:"pairing_key_id,omitempty"`
	// The field Capabilities contains the optional Chrome permissions that the user
	// granted the extension.
	Capabilities []string `json:"-"`
	// The field Connected is false while the link is lost and the grace period is
	// running.
	Connected bool `json:"connected"`
	// LinkChangedAt is the time at which the link was last established or lost.
	LinkChangedAt time.Time `json:"since"`
	// InjectMode is how the browser injects adapters into pages, or "" until the browser
	// reports its mode.
	InjectMode wire.InjectMode `json:"inject,omitempty"`
	// RunCount is the number of unfinished calls in the browser.
	RunCount int `json:"running"`
	// The field Tabs contains the browser's tabs that show a site of a plugin, sorted by
	// tab ID.
	Tabs []wire.TabInfo `json:"tabs,omitempty"`
	// SyncCount is how often all plugins and settings were transferred to the browser.
	SyncCount int `json:"-"`
}
