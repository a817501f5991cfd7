package author

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

// The names of the template files end in ".tmpl", so that compilers and linters ignore them.
//
//go:embed template
var templates embed.FS

const packagePrefix = "opentabs-plugin-"

// defaultDomain is a public site that needs no login.
const defaultDomain = "example.com"

// CreateOptions describe the plugin that [Create] writes.
type CreateOptions struct {
	// Name is the name of the plugin, optionally with a scope, such as "tickets" or
	// "@acme/tickets". Name can also be the name of the plugin's npm package.
	Name string
	// Dir is the directory in which Create creates the plugin's directory; default: the current directory.
	Dir string
	// Domain is the plugin's site: a host, optionally with a port, or a URL. The default
	// of the field Domain is example.com.
	Domain string
	// DisplayName is the plugin's name for users. By default, DisplayName is derived from
	// Name.
	DisplayName string
	// Description describes the plugin to users in one sentence. By default, the
	// description is a sentence that names Domain.
	Description string
	// ScriptWorld is the JavaScript world of the adapter, "main" or "isolated". The default of
	// the field ScriptWorld is main.
	ScriptWorld string
}

// CreateResult describes the plugin that [Create] wrote.
type CreateResult struct {
	// Dir is the path of the plugin's directory, for use in commands.
	Dir string
	// Name is the plugin's name.
	Name string
	// Pattern is the match pattern of the pages in which the plugin runs.
	Pattern string
	// The field Files contains the files that Create wrote, relative to Dir, without the
	// types for editors.
	Files []string
}

// The type scaffold contains the values for the templates of a new plugin. In a template,
// {{FIELD}} is replaced with the value of the scaffold's field FIELD, and {{json FIELD}}
// with that value as JSON.
type scaffold struct {
	Name, Package, DisplayName, Description, Pattern, Site string
	// URL is the address of the site's start page.
	URL string
	// ScriptWorld is the JavaScript world of the adapter; empty for the main world.
	ScriptWorld string
}

// Create writes a small plugin that builds, and passes check and test, without changes.
// The new plugin has two tools with tests, an icon, a README and the types for editors.
// If an option is invalid or the plugin's directory is not empty, Create writes nothing.
func Create(o CreateOptions) (*CreateResult, error) {
	s, err := o.newScaffold()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, s.Name)
	if dirEntries, err := os.ReadDir(dir); err == nil && len(dirEntries) > 0 {
		return nil, fmt.Errorf("%s already exists and contains %s; remove it, or choose another name or --dir", dir, dirEntries[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	files, err := s.renderFiles()
	if err != nil {
		return nil, err
	}
	c := &CreateResult{Dir: dir, Name: s.Name, Pattern: s.Pattern}
	for _, file := range files {
		targetPath := filepath.Join(dir, filepath.FromSlash(file.name))
		if err := os.MkdirAll(filepath.Dir(targetPath), 0o755); err != nil {
			return nil, fmt.Errorf("make the plugin's directory: %w", err)
		}
		if err := os.WriteFile(targetPath, file.fileContent, 0o644); err != nil {
			return nil, fmt.Errorf("write the plugin: %w", err)
		}
		c.Files = append(c.Files, file.name)
	}
	if _, err := writeEditorTypes(dir); err != nil {
		return nil, err
	}
	return c, nil
}

func (o CreateOptions) newScaffold() (scaffold, error) {
	s := scaffold{Package: packageName(o.Name), DisplayName: joinLines(o.DisplayName), Description: joinLines(o.Description)}
	var err error
	if s.Name, err = plugin.NameOf(s.Package); err != nil {
		return scaffold{}, err
	}
	if s.Site, s.Pattern, err = sitePatternOf(o.Domain); err != nil {
		return scaffold{}, err
	}
	switch o.ScriptWorld {
	case "", string(wire.WorldMain):
	case string(wire.WorldIsolated):
		s.ScriptWorld = o.ScriptWorld
	default:
		return scaffold{}, fmt.Errorf("the world is %q; use main or isolated", o.ScriptWorld)
	}
	for fieldName, fieldValue := range map[string]string{"display name": s.DisplayName, "description": s.Description} {
		if problemText := plaintext.CheckDisplayText(fieldValue); problemText != "" {
			return scaffold{}, fmt.Errorf("the %s %s", fieldName, problemText)
		}
	}
	s.URL = "https://" + s.Site + "/"
	if !strings.Contains(s.Pattern, "*.") { // the host is localhost or an IP address
		s.URL = "http://" + s.Site + "/"
	}
	if s.DisplayName == "" {
		s.DisplayName = titleOf(s.Name)
	}
	if s.Description == "" {
		s.Description = fmt.Sprintf("Describes the open page of %s and reads the titles of other pages.", s.Site)
	}
	return s, nil
}

func packageName(name string) string {
	name = strings.TrimSpace(name)
	scope, unscopedName, isScoped := strings.Cut(name, "/")
	if !isScoped || !strings.HasPrefix(name, "@") {
		scope, unscopedName = "", name
	} else {
		scope += "/"
	}
	if !strings.HasPrefix(unscopedName, packagePrefix) {
		unscopedName = packagePrefix + unscopedName
	}
	return scope + unscopedName
}

func titleOf(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

func joinLines(multilineText string) string { return strings.Join(strings.Fields(multilineText), " ") }

func sitePatternOf(domain string) (site, pattern string, err error) {
	site = strings.TrimSpace(domain)
	if site == "" {
		site = defaultDomain
	}
	if strings.Contains(site, "://") {
		u, err := url.Parse(site)
		if err != nil || u.Host == "" {
			return "", "", fmt.Errorf("the domain %q is not a URL; name a host such as %s", domain, defaultDomain)
		}
		site = u.Host
	}
	site = strings.TrimPrefix(strings.TrimSuffix(site, "/"), "*.")
	subdomainPattern := "*." + strings.TrimPrefix(site, "www.")
	for _, host := range []string{subdomainPattern, site} { // an IP address has no subdomains
		pattern = "*://" + host + "/*"
		if _, err = plugin.ParsePattern(pattern); err == nil {
			return site, pattern, nil
		}
	}
	return "", "", fmt.Errorf("the domain %q can't be used: %w", domain, err)
}

// scaffoldFile is a file to write. The field name is the file's path relative to the plugin's
// directory, with slashes.
type scaffoldFile struct {
	name        string
	fileContent []byte
}

// fillTemplate does not use package text/template, because it would keep the linker from dropping unused methods.
func (s scaffold) fillTemplate(template string) string {
	replacements := []string{"{{world}}", ""}
	if s.ScriptWorld != "" {
		replacements[1] = ",\n    \"world\": " + string(rawjson.Encode(s.ScriptWorld))
	}
	for name, value := range map[string]string{
		"Package": s.Package, "DisplayName": s.DisplayName, "Description": s.Description, "Pattern": s.Pattern, "Site": s.Site, "URL": s.URL,
	} {
		replacements = append(replacements, "{{"+name+"}}", value, "{{json "+name+"}}", string(rawjson.Encode(value)))
	}
	return strings.NewReplacer(replacements...).Replace(template)
}

func (s scaffold) renderFiles() ([]scaffoldFile, error) {
	var files []scaffoldFile
	err := fs.WalkDir(templates, "template", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		template, err := templates.ReadFile(name)
		if err != nil {
			return err
		}
		targetPath := strings.TrimSuffix(strings.TrimPrefix(name, "template/"), ".tmpl")
		if targetPath == "gitignore" { // go:embed skips names that begin with a dot
			targetPath = ".gitignore"
		}
		files = append(files, scaffoldFile{targetPath, []byte(s.fillTemplate(string(template)))})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("make the files of a new plugin: %w", err)
	}
	return files, nil
}
