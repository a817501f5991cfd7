// Package panelplugins installs, updates and removes plugins when the user requests it in a side panel.
//
// An installation from a side panel runs the same code and checks as `opentabs plugin install`. To install a plugin, a
// side panel sends the name of a registry package, or the absolute path of a folder or package file. An installed
// plugin does not run until the user has reviewed and enabled the plugin.
//
// # Concurrency
//
// A [Plugins] is safe for concurrent use. Package install locks the folder that contains the installed packages.
package panelplugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opentabs/internal/home"
	"opentabs/internal/install"
	"opentabs/internal/permissions"
	"opentabs/internal/usererr"
	"opentabs/plugin"
	"opentabs/wire"
)

// requestTimeout limits the duration of one installation or update of a plugin, including
// the download.
const requestTimeout = 2 * time.Minute

// Plugins installs, updates and removes a daemon's plugins on behalf of side panels.
// Create a Plugins with [New].
type Plugins struct {
	permissions.LocalPolicy

	home   *home.Home
	getenv func(string) string
	reload func() error
	ctx    context.Context // Close cancels ctx, which ends running downloads
	stop   context.CancelFunc
}

// New returns the Plugins of the opentabs installation h. New stores the function reload,
// which makes the daemon and its browsers reload all plugins.
func New(h *home.Home, localPermissions permissions.LocalPolicy, getenv func(string) string, reload func() error) *Plugins {
	ctx, stop := context.WithCancel(context.Background())
	return &Plugins{LocalPolicy: localPermissions, home: h, getenv: getenv, reload: reload, ctx: ctx, stop: stop}
}

// Close cancels all running downloads and prevents new ones.
func (p *Plugins) Close() { p.stop() }

// InstallPlugin installs a plugin from a registry package, a package file or a folder.
// InstallPlugin returns errors as sentences for the user.
func (p *Plugins) InstallPlugin(packageText string) (wire.PluginInstallResult, error) {
	result, err := p.installPlugin(packageText)
	return result, explainError(err)
}

func (p *Plugins) installPlugin(packageText string) (result wire.PluginInstallResult, err error) {
	packageSource, path, err := parseSource(packageText)
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(p.ctx, requestTimeout)
	defer cancel()
	var newPlugin, oldPlugin *plugin.Plugin
	if packageSource.IsFolder() {
		newPlugin, err = install.AddFolder(p.home, path)
	} else {
		var i *install.Installer
		if i, err = p.newInstaller(&result.Warnings); err == nil {
			newPlugin, oldPlugin, err = i.Get(ctx, packageSource)
		}
		if err == nil && !packageSource.IsLocal() {
			result.Registry = i.RegistryURLFor(newPlugin.Package)
		}
	}
	if err != nil {
		return wire.PluginInstallResult{}, err
	}
	result.Plugin, result.Version = newPlugin.Name, newPlugin.Version
	result.Warnings = append(result.Warnings, newPlugin.Warnings...)
	if oldPlugin != nil {
		result.PreviousVersion = oldPlugin.Version
	}
	return result, p.reloadPlugins(newPlugin.Source, newPlugin.Package)
}

// Relative paths are rejected, because the daemon's working directory is not the user's.
func parseSource(sourceText string) (packageSource install.Source, path string, err error) {
	path = strings.TrimSpace(sourceText)
	if path == "" {
		return packageSource, "", usererr.Errorf("the name of the package is missing: enter the name of an npm package, or the path of a folder")
	}
	if pathInHome, isHomeRelative := strings.CutPrefix(path, "~"+string(filepath.Separator)); isHomeRelative {
		userFolder, err := os.UserHomeDir()
		if err != nil {
			return packageSource, "", fmt.Errorf("find your home directory: %w", err)
		}
		path = filepath.Join(userFolder, pathInHome)
	}
	packageSource, err = install.ParseSource(path)
	if err == nil && packageSource.IsLocal() && !filepath.IsAbs(path) {
		err = usererr.Errorf("%q is a relative path: enter the absolute path, such as /home/ada/messages", sourceText)
	}
	return packageSource, path, err
}

// The daemon may have any working directory, and an .npmrc file in it could select another registry.
func (p *Plugins) newInstaller(warnings *[]string) (*install.Installer, error) {
	return install.New(p.home, p.getenv, "", func(format string, args ...any) {
		if warning, ok := strings.CutPrefix(fmt.Sprintf(format, args...), "warning: "); ok {
			*warnings = append(*warnings, warning)
		}
	})
}

func (p *Plugins) reloadPlugins(packageSource plugin.Source, packageName string) error {
	if err := p.reload(); err != nil {
		return fmt.Errorf("the plugin was changed, but the plugins could not be reloaded: %w", err)
	}
	if packageSource == plugin.SourceNPM {
		install.RemoveUnused(p.home, func(string, ...any) {}, packageName)
	}
	return nil
}

// UpdatePlugin updates a plugin to the newest version within the user's version range,
// such as ^1. UpdatePlugin returns errors as sentences for the user.
func (p *Plugins) UpdatePlugin(name string) (wire.PluginUpdateResult, error) {
	result, err := p.updatePlugin(name)
	return result, explainError(err)
}

func (p *Plugins) updatePlugin(name string) (result wire.PluginUpdateResult, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, requestTimeout)
	defer cancel()
	i, err := p.newInstaller(&result.Warnings)
	if err != nil {
		return result, err
	}
	updateOffers, err := i.FindUpdates(ctx, []string{name})
	if err != nil {
		return result, err
	}
	offer := updateOffers[0]
	if offer.Error != "" {
		return result, errors.New(offer.Error)
	}
	result.Version = offer.CurrentVersion
	if offer.HasNewerExcludedVersion() {
		result.LatestVersion = offer.LatestVersion
	}
	if !offer.IsNewer() {
		return result, nil
	}
	newPlugin, oldPlugin, err := i.Update(ctx, offer)
	if err != nil {
		return result, err
	}
	result.Version = newPlugin.Version
	if oldPlugin != nil {
		result.PreviousVersion = oldPlugin.Version
	}
	return result, p.reloadPlugins(newPlugin.Source, newPlugin.Package)
}

// RemovePlugin uninstalls a plugin, and deletes its review, permissions and settings. A
// plugin folder that the user has added is not deleted. The parameter surface is where
// the user decided, such as "the side panel".
func (p *Plugins) RemovePlugin(name, surface string) error {
	storeEntry, err := install.Remove(p.home, name)
	if err == nil {
		err = p.reloadPlugins(storeEntry.Source, storeEntry.Package)
	}
	if err == nil {
		err = p.Forget(storeEntry.Name, surface)
	}
	return explainError(err)
}

// explainError converts an error into an error whose text is a sentence for the user.
func explainError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(home.ExplainError(err))
}
