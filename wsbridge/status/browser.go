// Package status describes the browsers of a hub for status pages.
package status

import (
	"time"

	"opentabs/wire"
)

// Browser describes one browser for status pages.
type Browser struct {
	// ID never changes for a browser profile; Name is the name that the user gave the
	// browser.
	ID   string `json:"id"`
	Name string `json:"name"`
	// ExtensionVersion is the version of the browser's extension.
	ExtensionVersion string `json:"extension_version"`
	// PairingKeyID is the wire.KeyID of the key with which the browser connected last; empty
	// for the installation's key.
	PairingKeyID string `json:"pairing_key_id,omitempty"`
	// Capabilities are the optional permissions of Chrome that the extension has.
	Capabilities []string `json:"-"`
	// Connected is false while the link is lost and the browser may still reconnect.
	Connected bool `json:"connected"`
	// LinkChangedAt is when the link was established or lost.
	LinkChangedAt time.Time `json:"since"`
	// InjectMode is how the browser injects adapters into pages; empty until the
	// browser reports its mode.
	InjectMode wire.InjectMode `json:"inject,omitempty"`
	// RunCount counts the unfinished runs.
	RunCount int `json:"running"`
	// Tabs are the browser's tabs that match a plugin, by ID.
	Tabs []wire.TabInfo `json:"tabs,omitempty"`
	// SyncCount counts the completed syncs of plugins and settings.
	SyncCount int `json:"-"`
}
