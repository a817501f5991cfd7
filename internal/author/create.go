package author

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"

	"opentabs/internal/plaintext"
	"opentabs/plugin"
	"opentabs/wire"
)

// templates are the files of a new plugin. The name of each ends in ".tmpl", so
// that no tool takes it for what it becomes.
//
//go:embed template
var templates embed.FS

const packagePrefix = "opentabs-plugin-"

// defaultDomain is a site that everybody can open.
const defaultDomain = "example.com"

// CreateOptions say what plugin [Create] makes.
type CreateOptions struct {
	// Name is the plugin's name ("tickets"), with a scope if it has one
	// ("@acme/tickets"), or that of its package.
	Name string
	// Dir is where the plugin's directory is made. Default: the current directory.
	Dir string
	// Domain is the site it works on: a host, with a port if it has one, or a
	// URL of the site. Default: example.com.
	Domain string
	// DisplayName is the name for people. Default: made of Name.
	DisplayName string
	// Description is a sentence for people. Default: made of Domain.
	Description string
	// World is where the adapter runs, "main" or "isolated". Default: main.
	World string
}

// Created is a plugin that was made.
type Created struct {
	// Dir is its directory, as it can be given to other commands.
	Dir string
	// Name is the plugin's name.
	Name string
	// Pattern is the match pattern of the pages it works in.
	Pattern string
	// Files are what was written, relative to Dir, but for what an editor needs.
	Files []string
}

// scaffold is what the templates may use.
type scaffold struct {
	Name, Package, DisplayName, Description, Pattern, Site string
	// URL is that of a page of the site.
	URL string
	// World is empty for the main world.
	World string
}

// Create makes a small plugin that builds, checks and tests as it is: two tools,
// their tests, an icon, a README, and what an editor needs to know the types.
// The error says what is wrong with the options; nothing is written then. A
// directory that holds something already is refused.
func Create(o CreateOptions) (*Created, error) {
	s, err := o.scaffold()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, s.Name)
	if held, err := os.ReadDir(dir); err == nil && len(held) > 0 {
		return nil, fmt.Errorf("%s is there already and holds %s; remove it, or choose another name or --dir", dir, held[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look into %s: %w", dir, err)
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	c := &Created{Dir: dir, Name: s.Name, Pattern: s.Pattern}
	for _, file := range files {
		to := filepath.Join(dir, filepath.FromSlash(file.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, fmt.Errorf("make the plugin's directory: %w", err)
		}
		if err := os.WriteFile(to, file.text, 0o644); err != nil {
			return nil, fmt.Errorf("write the plugin: %w", err)
		}
		c.Files = append(c.Files, file.name)
	}
	if _, err := writeEditorTypes(dir); err != nil {
		return nil, err
	}
	return c, nil
}

// scaffold checks the options and fills in what is missing.
func (o CreateOptions) scaffold() (scaffold, error) {
	s := scaffold{Package: packageName(o.Name), DisplayName: oneLine(o.DisplayName), Description: oneLine(o.Description)}
	var err error
	if s.Name, err = plugin.NameOf(s.Package); err != nil {
		return scaffold{}, err
	}
	if s.Site, s.Pattern, err = siteOf(o.Domain); err != nil {
		return scaffold{}, err
	}
	switch o.World {
	case "", string(wire.WorldMain):
	case string(wire.WorldIsolated):
		s.World = o.World
	default:
		return scaffold{}, fmt.Errorf("the world is %q; use main or isolated", o.World)
	}
	for what, text := range map[string]string{"name for people": s.DisplayName, "description": s.Description} {
		if problem := plaintext.CheckShown(text); problem != "" {
			return scaffold{}, fmt.Errorf("the %s %s", what, problem)
		}
	}
	s.URL = "https://" + s.Site + "/"
	if !strings.Contains(s.Pattern, "*.") { // a machine's own
		s.URL = "http://" + s.Site + "/"
	}
	if s.DisplayName == "" {
		s.DisplayName = titleOf(s.Name)
	}
	if s.Description == "" {
		s.Description = fmt.Sprintf("Reads pages of %s: what is open, and the titles of others.", s.Site)
	}
	return s, nil
}

// packageName is that of the package of a plugin; what is wrong with it is for
// plugin.NameOf to say.
func packageName(name string) string {
	name = strings.TrimSpace(name)
	scope, rest, scoped := strings.Cut(name, "/")
	if !scoped || !strings.HasPrefix(name, "@") {
		scope, rest = "", name
	} else {
		scope += "/"
	}
	if !strings.HasPrefix(rest, packagePrefix) {
		rest = packagePrefix + rest
	}
	return scope + rest
}

// titleOf makes "Acme Chat" of "acme-chat".
func titleOf(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// siteOf returns the host that a domain or URL names, and the match pattern of
// its pages. A name with a dot stands for its subdomains too.
func siteOf(domain string) (site, pattern string, err error) {
	site = strings.TrimSpace(domain)
	if site == "" {
		site = defaultDomain
	}
	if strings.Contains(site, "://") {
		u, err := url.Parse(site)
		if err != nil || u.Host == "" {
			return "", "", fmt.Errorf("the domain %q is no URL; give a host, as in %s", domain, defaultDomain)
		}
		site = u.Host
	}
	site = strings.TrimPrefix(strings.TrimSuffix(site, "/"), "*.")
	wide := "*." + strings.TrimPrefix(site, "www.")
	for _, host := range []string{wide, site} { // an address has no subdomains
		pattern = "*://" + host + "/*"
		if _, err = plugin.ParsePattern(pattern); err == nil {
			return site, pattern, nil
		}
	}
	return "", "", fmt.Errorf("the domain %q can't be used: %w", domain, err)
}

// newFile is a file to be written; its name has slashes.
type newFile struct {
	name string
	text []byte
}

// files fills the templates in.
func (s scaffold) files() ([]newFile, error) {
	funcs := template.FuncMap{"json": func(v any) (string, error) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return strings.TrimSpace(b.String()), err
	}}
	var files []newFile
	err := fs.WalkDir(templates, "template", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		parsed, err := template.New(path.Base(name)).Funcs(funcs).ParseFS(templates, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := parsed.Execute(&b, s); err != nil {
			return err
		}
		to := strings.TrimSuffix(strings.TrimPrefix(name, "template/"), ".tmpl")
		if to == "gitignore" { // a name with a dot would not be embedded
			to = ".gitignore"
		}
		files = append(files, newFile{to, b.Bytes()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fill in the files of a new plugin: %w", err)
	}
	return files, nil
}
