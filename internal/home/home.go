// Package home opens an installation of opentabs: its directories, settings, plugins and permissions, and the
// connection to its daemon.
//
// Commands change permissions through the running daemon, so that the change takes effect at once. If no daemon runs,
// commands change the files directly.
package home

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/permissions"
	"opentabs/internal/scriptcheck"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
)

// Home is one installation of opentabs.
type Home struct {
	config.Dirs
	Settings config.Settings

	// Getenv returns the value of an environment variable.
	Getenv   func(string) string
	warn     func(warning string)
	warnOnce sync.Once
}

// New returns the installation in dirs. The function getenv returns environment variables,
// and the function warn receives warnings for the user.
func New(dirs config.Dirs, s config.Settings, getenv func(string) string, warn func(warning string)) *Home {
	return &Home{Dirs: dirs, Settings: s, Getenv: getenv, warn: warn}
}

// PluginStore returns the store of installed plugins.
func (h *Home) PluginStore() *plugin.Store {
	return h.PluginStoreWithCache(scriptcheck.New(h.Dirs, zerolog.Nop()), h.warn)
}

// PluginStoreWithCache is like [Home.PluginStore], but uses the given cache of checked scripts
// and sends warnings to warn.
func (h *Home) PluginStoreWithCache(checkCache *scriptcheck.Cache, warn func(warning string)) *plugin.Store {
	return plugin.NewStore(h.State, plugin.StoreOptions{
		CheckCode: checkCache.Check, HasPassedCheck: checkCache.HasPassed, IndexKey: h.pluginIndexKey(), WarnUser: warn,
	})
}

// The index key depends on the installation and on the version of opentabs; without a
// token, pluginIndexKey returns nil.
func (h *Home) pluginIndexKey() []byte {
	token, err := h.ExistingToken()
	if err != nil || token == "" {
		return nil
	}
	key := sha256.Sum256([]byte("opentabs plugin index\n" + version.Version + "\n" + token))
	return key[:]
}

// Plugins loads the installed plugins and their settings.
func (h *Home) Plugins() (*catalog.Catalog, error) {
	registry := catalog.New(h.PluginStore(), settings.New(h.State, h.policyOptions().SettingsOptions()), zerolog.Nop())
	if err := h.DiscoverGlobal(registry.Registry); err != nil {
		h.warn("warning: " + err.Error())
	}
	return registry, registry.Reload()
}

// Permissions returns the permissions that are stored in files, without using the daemon.
func (h *Home) Permissions(registry *catalog.Catalog) permissions.LocalPolicy {
	return permissions.NewLocalPolicy(policy.New(h.State, registry.Set, h.policyOptions()), registry)
}

func (h *Home) policyOptions() policy.Options {
	return policy.Options{
		WarnUser:     h.warn,
		RecordChange: func(c policy.Change) { h.writeAuditRecord(permissions.AuditRecord(c)) },
	}
}

func (h *Home) writeAuditRecord(r audit.Record) {
	log := audit.Open(h.State, zerolog.Nop())
	defer log.Close()
	log.Write(r)
}

// PolicyAccess lets a command read and change permissions. The methods of the
// embedded Policy change permissions through the daemon, or directly in the files if no
// daemon runs.
type PolicyAccess struct {
	httpapi.Policy
	// Plugins contains the plugins that this process, not the daemon, has loaded.
	Plugins *plugin.Set
	// LocalPermissions reads the permissions from the files, even if a daemon runs.
	LocalPermissions permissions.LocalPolicy
	// Client is a client of the daemon, or nil if no daemon runs.
	Client *httpapi.Client
}

// OpenPolicy loads the plugins, and connects to the daemon if one is running.
func (h *Home) OpenPolicy(ctx context.Context) (PolicyAccess, error) {
	registry, err := h.Plugins()
	if err != nil {
		return PolicyAccess{}, err
	}
	policyAccess := PolicyAccess{Plugins: registry.Set(), LocalPermissions: h.Permissions(registry)}
	if policyAccess.Client, err = h.runningClient(ctx); err != nil {
		return PolicyAccess{}, err
	}
	if policyAccess.Client != nil {
		policyAccess.Policy = policyAccess.Client.Policy(ctx)
	} else {
		policyAccess.Policy = policyAccess.LocalPermissions
	}
	return policyAccess, nil
}

// OpenServerPolicy returns a Policy that reads and changes permissions through a client of the
// daemon. If client is nil, the Policy reads and changes the files directly.
func (h *Home) OpenServerPolicy(ctx context.Context, client *httpapi.Client) (httpapi.Policy, error) {
	if client != nil {
		return client.Policy(ctx), nil
	}
	registry, err := h.Plugins()
	if err != nil {
		return nil, err
	}
	return h.Permissions(registry), nil
}

// A command must not change files that a running daemon uses, even if the daemon has another token.
func (h *Home) runningClient(ctx context.Context) (*httpapi.Client, error) {
	client, err := h.Client(ctx)
	if errors.As(err, new(*ServerTokenMismatchError)) {
		return nil, err
	}
	if errors.Is(err, httpapi.ErrNoServer) || errors.Is(err, httpapi.ErrPortTaken) {
		return nil, nil
	}
	return client, err
}

// Client returns an API client of the running daemon. Client also returns the errors of
// [Home.FindServer]. If the daemon has an older version and no running calls, Client first
// replaces it with a new daemon.
func (h *Home) Client(ctx context.Context) (*httpapi.Client, error) {
	server, err := h.FindServer(ctx)
	if err == nil {
		server, err = h.replaceOlderDaemon(ctx, server)
	}
	if err != nil {
		return nil, err
	}
	token, err := h.Token()
	if err != nil {
		return nil, err
	}
	return httpapi.NewClient(server.Port, token), nil
}

// ReloadPlugins makes the running daemon reload the plugins, and returns a client of the
// daemon. If no daemon runs, ReloadPlugins returns nil.
func (h *Home) ReloadPlugins(ctx context.Context) (*httpapi.Client, error) {
	client, err := h.runningClient(ctx)
	if client == nil || err != nil {
		return nil, err
	}
	if err := client.Plugins.Reload(ctx); err != nil {
		return nil, fmt.Errorf("reload the plugins of the server: %w", err)
	}
	return client, nil
}
