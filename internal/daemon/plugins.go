package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/audit"
	"opentabs/internal/home"
	"opentabs/internal/permissions"
	"opentabs/internal/scriptcheck"
	"opentabs/internal/stacktrace"
	"opentabs/internal/toolpins"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// The type plugins manages the installed plugins, with their settings and permissions.
type plugins struct {
	registry      *catalog.Catalog
	settingValues *settings.Values
	policy        *policy.Policy
	enforcer      *policy.Enforcer
	scriptChecks  *scriptcheck.Cache
	toolPins      *toolpins.PinnedTools
}

func (p *plugins) stackResolver() func(name string, logEntry wire.LogEntry) []string {
	resolver := &stacktrace.Resolver{}
	return func(name string, logEntry wire.LogEntry) []string {
		loadedPlugin, ok := p.registry.Set().Plugin(name)
		if !ok {
			return nil
		}
		return resolver.Frames(loadedPlugin.AdapterPath(), stacktrace.Trace{Stack: logEntry.Stack, Origin: logEntry.StackOrigin})
	}
}

// Plugins in development mode count as reviewed.
func newPlugins(h *home.Home, folders *devFolders, auditLog *audit.Log, log zerolog.Logger) *plugins {
	options := policy.Options{
		Log: log, WarnUser: func(warning string) { log.Error().Msg(warning) },
		RecordChange: func(c policy.Change) { auditLog.Write(permissions.AuditRecord(c)) },
	}
	settingValues := settings.New(h.State, options.SettingsOptions())
	if err := settingValues.Repair(); err != nil {
		log.Error().Err(err).Msg("a damaged file of settings could not be renamed; no plugin has settings")
	}
	scriptChecks := scriptcheck.New(h.Dirs, log)
	registry := catalog.New(h.PluginStoreWithCache(scriptChecks, nil), settingValues, log)
	options.IsInDevelopment = folders.permission
	reviews := policy.New(h.State, registry.Set, options)
	if err := reviews.Repair(); err != nil {
		log.Error().Err(err).Msg("a damaged file of permissions could not be renamed; no plugin is reviewed")
	}
	toolPins := toolpins.Open(h.State, options.WarnUser, log)
	if err := toolPins.Repair(); err != nil {
		log.Error().Err(err).Msg("a damaged file of pinned tools could not be renamed; no tool is pinned")
	}
	return &plugins{registry: registry, settingValues: settingValues, policy: reviews, enforcer: policy.NewEnforcer(reviews), scriptChecks: scriptChecks, toolPins: toolPins}
}

func (p *plugins) runnablePlugins() []*plugin.Plugin {
	return slices.DeleteFunc(p.registry.Set().Plugins(), func(loadedPlugin *plugin.Plugin) bool { return !p.policy.MayRunAnyTool(loadedPlugin) })
}

func (p *plugins) pageSettings() []wire.PluginSettingsParams {
	var allSettings []wire.PluginSettingsParams
	for _, loadedPlugin := range p.runnablePlugins() {
		if len(loadedPlugin.Settings) > 0 {
			allSettings = append(allSettings, wire.PluginSettingsParams{Name: loadedPlugin.Name, Settings: p.settingValues.SettingsForPage(loadedPlugin, p.policy.IsRestricted(loadedPlugin))})
		}
	}
	return allSettings
}

// If frame is true, canRunInDocument returns true only for a plugin that also runs in child frames.
func (p *plugins) canRunInDocument(name, url string, frame bool) bool {
	loadedPlugin, ok := p.registry.Set().Plugin(name)
	return ok && loadedPlugin.MatchesURL(url) && (!frame || loadedPlugin.RunsInFrames)
}

// recordAdapterStart ignores adapters of another version of the plugin.
func (p *plugins) recordAdapterStart(s wsbridge.AdapterStartReport) {
	loadedPlugin, ok := p.registry.Set().Plugin(s.Plugin)
	switch {
	case !ok || loadedPlugin.Hash != s.Hash:
	case s.Problem == "":
		p.registry.Faults().ClearFault(loadedPlugin)
	default:
		p.registry.Faults().RecordFault(loadedPlugin, s.Problem, s.URL, s.Browser)
	}
}

// browserSync keeps the plugins in all browsers up to date.
type browserSync struct {
	registry *catalog.Catalog
	adapters *adapters
	hub      *wsbridge.Hub
	log      zerolog.Logger
}

// The method reload does not notify agents, because the MCP server follows the registry
// itself.
func (b *browserSync) reload() error {
	if err := b.registry.Reload(); err != nil {
		return err
	}
	b.run()
	return nil
}

func (b *browserSync) run() {
	if err := b.adapters.writeFiles(); err != nil {
		b.log.Warn().Err(err).Msg("the adapters could not be written into the extension's folder")
	}
	b.hub.Sync()
}

func (b *browserSync) watch(ctx context.Context) {
	watch := b.registry.Watch()
	ticker := time.NewTicker(plugin.WatchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !watch.HasChanged() {
			continue
		}
		if err := b.reload(); err != nil {
			b.log.Error().Err(err).Msg("the plugins have changed, but their list cannot be read; the loaded plugins stay")
		}
	}
}
