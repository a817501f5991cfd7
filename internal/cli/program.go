package cli

import (
	"context"
	"io"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin/catalog"
)

// Program is the environment of the opentabs process, which every command receives.
type Program struct {
	In     io.Reader
	Out    *terminal.Output
	Getenv func(string) string
}

// Report prints the result of a command. If asJSON is true, result is printed as JSON to
// stdout. If asJSON is false, the formatted sentence is printed as a notice for the user.
func (p *Program) Report(asJSON bool, result any, format string, args ...any) error {
	if asJSON {
		return p.Out.PrintValue(result)
	}
	p.Out.Notef(format, args...)
	return nil
}

// MakeDirs returns the directories of the installation, and creates missing directories.
func (p *Program) MakeDirs() (config.Dirs, error) {
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return config.Dirs{}, NewUsageError("%v", err)
	}
	warnings, err := dirs.CreateDirs()
	for _, w := range warnings {
		p.Out.Notef("%s", w)
	}
	return dirs, err
}

// OpenHome returns the installation with its settings, and creates missing directories.
// The argument flags contains the settings on the command line, by flag name.
func (p *Program) OpenHome(flags map[string]string) (*home.Home, error) {
	dirs, err := p.MakeDirs()
	if err != nil {
		return nil, err
	}
	return p.loadHome(dirs, flags)
}

// FindHome returns the installation with its settings, without creating directories.
func (p *Program) FindHome() (*home.Home, error) {
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return nil, NewUsageError("%v", err)
	}
	return p.loadHome(dirs, nil)
}

func (p *Program) loadHome(dirs config.Dirs, flags map[string]string) (*home.Home, error) {
	s, err := config.Load(dirs, p.Getenv, flags)
	if err != nil {
		return nil, NewUsageError("%v", err)
	}
	return home.New(dirs, s, p.Getenv, func(warning string) { p.Out.Notef("%s", warning) }), nil
}

// OpenPlugins returns the installation and the catalog of its plugins.
func (p *Program) OpenPlugins() (*home.Home, *catalog.Catalog, error) {
	h, err := p.OpenHome(nil)
	if err != nil {
		return nil, nil, err
	}
	registry, err := h.Plugins()
	return h, registry, err
}

// OpenPolicy returns access to the permissions, through the server if one is running.
func (p *Program) OpenPolicy(ctx context.Context) (home.PolicyAccess, error) {
	h, err := p.OpenHome(nil)
	if err != nil {
		return home.PolicyAccess{}, err
	}
	return h.OpenPolicy(ctx)
}

// NewClient returns an API client of the running daemon. If no daemon runs, NewClient
// returns an error and creates no directories.
func (p *Program) NewClient(ctx context.Context) (*httpapi.Client, error) {
	h, err := p.FindHome()
	if err != nil {
		return nil, err
	}
	client, err := h.Client(ctx)
	if err != nil {
		return nil, err
	}
	_, err = p.MakeDirs()
	return client, err
}
