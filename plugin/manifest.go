package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
	"opentabs/plugin/schema"
	"opentabs/wire"
)

// newestSDKMajor and newestSDKMinor are the two parts of the newest SDK version that
// opentabs supports, such as 0.1.
const (
	newestSDKMajor = 0
	newestSDKMinor = 1
)

const (
	// maxDescriptionChars is the maximum length of the description of a plugin, a tool or
	// a prompt, in characters.
	maxDescriptionChars = 1000
	// maxNameChars is the maximum length of a display name, in characters.
	maxNameChars = 100
	// maxVersionChars is the maximum length of a package's version, in characters.
	maxVersionChars = 100
	// maxPatterns is the maximum number of URL patterns of a plugin, and of excluded
	// patterns. maxPatternChars is the maximum length of a URL pattern, in characters.
	maxPatterns     = 200
	maxPatternChars = 1000
)

// maxAdvisedNameChars is the longest full tool name that all known MCP clients accept.
const maxAdvisedNameChars = 64

func parsePackage(rawJSON []byte, p *Plugin, problems *jsonread.Problems) {
	if rawjson.KindOf(rawJSON) != rawjson.KindObject {
		problems.Add("is %s; make it an object", rawjson.KindOf(rawJSON))
		return
	}
	f := jsonread.New(rawJSON, "", problems)
	if name := f.Text("name", "call the package "+packagePrefix+"NAME"); name != "" {
		var err error
		p.Package = name
		if p.Name, err = NameOf(name); err != nil {
			problems.Add("name %v", err)
		}
	}
	p.Version = f.Text("version", `give one, as in "1.0.0"`)
	if n := len(p.Version); n > maxVersionChars {
		f.Add("version", "has %d characters; use at most %d", n, maxVersionChars)
	}
	f.Text("main", `set it to "dist/adapter.iife.js"`)
	if !f.Has("opentabs") {
		problems.Add("opentabs is missing; describe the plugin there: displayName, description, urlPatterns")
		return
	}
	if o := f.Object("opentabs"); o != nil {
		parseDescription(o, p)
	}
}

func parseDescription(f *jsonread.Reader, p *Plugin) {
	p.DisplayName = truncateMember(f, p, "displayName", f.Text("displayName", "give the plugin a display name"), maxNameChars)
	p.Description = truncateMember(f, p, "description", f.Text("description", "describe the plugin in a sentence"), maxDescriptionChars)
	if !f.Has("urlPatterns") {
		f.Add("urlPatterns", `is missing; list the sites the plugin works on, as in ["*://*.example.com/*"]`)
	}
	p.Matches, p.matches = readPatterns(f, "urlPatterns")
	p.Excludes, p.excludes = readPatterns(f, "excludePatterns")
	if f.Has("homepage") {
		p.Homepage = f.Text("homepage", "give a URL or leave it out")
		// The homepage must be an http or https URL, because the side panel opens it.
		switch u, err := url.Parse(p.Homepage); {
		case p.Homepage == "":
		case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
			f.Add("homepage", "is not an http or https URL; write it as in https://example.com")
		case u.User != nil:
			f.Add("homepage", "has a user name before its host, which hides the real host; remove the part before the @")
		case len(p.Homepage) > maxPatternChars:
			f.Add("homepage", "has %d characters; use at most %d", len(p.Homepage), maxPatternChars)
		}
	}
	p.Start = readStartTime(f)
	frames := f.Bool("frames")
	p.RunsInFrames = frames != nil && *frames
	switch world := f.OptionalText("world"); world {
	case "", string(wire.WorldMain):
		p.World = wire.WorldMain
	case string(wire.WorldIsolated):
		p.World = wire.WorldIsolated
	default:
		f.Add("world", `is %q; use "main" or "isolated"`, world)
	}
}

// If package.json and dist/tools.json both have the member "start", opentabs uses the value in package.json.
func readStartTime(f *jsonread.Reader) Start {
	declaredStart := Start(f.OptionalText("start"))
	if declaredStart != "" && declaredStart != StartAtDocumentStart && declaredStart != StartAtDocumentIdle {
		f.Add("start", "is %q; use %q or %q", declaredStart, StartAtDocumentStart, StartAtDocumentIdle)
	}
	return declaredStart
}

func readPatterns(f *jsonread.Reader, key string) (patternTexts []string, patterns []Pattern) {
	patternTexts = f.Strings(key)
	if len(patternTexts) > maxPatterns {
		f.Add(key, "has %d patterns; use at most %d", len(patternTexts), maxPatterns)
		return nil, nil
	}
	for i, patternText := range patternTexts {
		if len(patternText) > maxPatternChars {
			f.Add(fmt.Sprintf("%s[%d]", key, i), "has %d characters; use at most %d", len(patternText), maxPatternChars)
			continue
		}
		pattern, err := ParsePattern(patternText)
		if err != nil {
			f.Add(fmt.Sprintf("%s[%d]", key, i), "is refused: %v", err)
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patternTexts, patterns
}

// In packages without sdkVersion, dist/tools.json contains an array; in all other packages, an object.
func parseTools(rawJSON []byte, p *Plugin, problems *jsonread.Problems) {
	var manifestReader *jsonread.Reader
	switch rawjson.KindOf(rawJSON) {
	case rawjson.KindObject:
		manifestReader = jsonread.New(rawJSON, "", problems)
	case rawjson.KindArray:
		p.Warnings = append(p.Warnings, problems.File+" is a bare array; build the plugin again to record its SDK version")
		manifestReader = &jsonread.Reader{Members: map[string][]byte{"tools": rawJSON}, Problems: problems}
	default:
		problems.Add("is %s; build the plugin again", rawjson.KindOf(rawJSON))
		return
	}
	p.SDKVersion = manifestReader.OptionalText("sdkVersion")
	if isNewerSDK(p.SDKVersion) {
		problems.Add("sdkVersion is %s, but this opentabs understands packages up to %d.%d; update opentabs",
			p.SDKVersion, newestSDKMajor, newestSDKMinor)
	}
	p.IsForOriginalSDK = isOriginalSDK(p.SDKVersion)
	if declaredStart := readStartTime(manifestReader); p.Start == "" {
		p.Start = declaredStart
	}
	parsePreScript(manifestReader, p)
	parseIcons(manifestReader, p)
	parseConfigSchema(manifestReader, p)
	parseToolList(manifestReader, p)
	parsePrompts(manifestReader, p)
}

func parseToolList(manifestReader *jsonread.Reader, p *Plugin) {
	if !manifestReader.Has("tools") {
		manifestReader.Add("tools", "is missing; build the plugin again")
		return
	}
	if rawJSON := manifestReader.Members["tools"]; rawjson.KindOf(rawJSON) != rawjson.KindArray {
		manifestReader.Add("tools", "is %s; build the plugin again", rawjson.KindOf(rawJSON))
		return
	}
	tools := rawjson.Elements(manifestReader.Members["tools"])
	if len(tools) == 0 {
		manifestReader.Add("tools", "is empty; give the plugin at least one tool")
	}
	parseListItems(manifestReader, "tools", tools, map[string]string{}, func(f *jsonread.Reader) string {
		t := parseTool(f, p)
		p.Tools = append(p.Tools, t)
		return t.Name
	})
	checkUndos(p, manifestReader.Problems)
}

func parseListItems(manifestReader *jsonread.Reader, listName string, rawItems [][]byte, seenIDs map[string]string, parse func(*jsonread.Reader) string) {
	for i, rawJSON := range rawItems {
		itemPath := fmt.Sprintf("%s[%d]", listName, i)
		if rawjson.KindOf(rawJSON) != rawjson.KindObject {
			manifestReader.Add(itemPath, "is %s; make it an object", rawjson.KindOf(rawJSON))
			continue
		}
		name := parse(jsonread.New(rawJSON, itemPath+".", manifestReader.Problems))
		if firstPath, isDuplicate := seenIDs[name]; isDuplicate && name != "" {
			manifestReader.Add(itemPath+".name", "is %q, as %s.name is; rename one of them", name, firstPath)
		} else {
			seenIDs[name] = itemPath
		}
	}
}

func parseTool(f *jsonread.Reader, p *Plugin) *Tool {
	t := &Tool{Plugin: p}
	t.Name = f.Text("name", "give the tool a name, as in list_channels")
	if t.Name != "" && p.Name != "" {
		checkFullName(f, p, "tool", t.FullName())
	}
	t.DisplayName = readTruncatedText(f, p, "displayName", maxNameChars)
	if t.DisplayName == "" {
		t.DisplayName = t.Name
	}
	checkUnusedIcons(f, p)
	t.Description = f.Text("description", "describe what the tool does")
	warnAboutToolMentions(f, p, t.Description)
	if n := utf8.RuneCountInString(t.Description); n > maxDescriptionChars {
		f.Add("description", "has %d characters; shorten it to at most %d", n, maxDescriptionChars)
	}
	readTruncatedText(f, p, "summary", maxDescriptionChars)
	t.Group = strings.TrimSpace(readTruncatedText(f, p, "group", maxNameChars))
	t.Icon = readTruncatedText(f, p, "icon", maxNameChars)
	if t.Icon == "" {
		t.Icon = "wrench"
	}
	t.InputSchema = readInputSchema(f, p)
	t.OutputSchema = readSchema(f, "output_schema", p)
	t.IdleLimit, t.HardLimit = readTimeouts(f)
	t.Undo = parseUndo(f, p)
	if a := f.Object("annotations"); a != nil {
		t.Annotations = Annotations{
			Title:       readTruncatedText(a, p, "title", maxNameChars),
			ReadOnly:    a.Bool("readOnlyHint"),
			Destructive: a.Bool("destructiveHint"),
			Idempotent:  a.Bool("idempotentHint"),
			OpenWorld:   a.Bool("openWorldHint"),
		}
	}
	return t
}

// A malicious author could use a description to make agents call tools of opentabs.
func warnAboutToolMentions(f *jsonread.Reader, p *Plugin, description string) {
	for _, name := range BuiltinToolNames {
		if strings.Contains(strings.ToLower(description), name) {
			addWarning(f, p, "description", "names %s, a tool of opentabs itself; check that it does not make agents use that tool", name)
		}
	}
}

func checkFullName(f *jsonread.Reader, p *Plugin, kind, fullName string) {
	switch {
	case !fullNameGrammar().MatchString(fullName):
		f.Add("name", "makes the %s's full name %q; use at most 128 letters, digits, _ and - in all", kind, fullName)
	case len(fullName) > maxAdvisedNameChars:
		p.Warnings = append(p.Warnings, fmt.Sprintf("the %s name %s has %d characters; some clients refuse more than %d",
			kind, fullName, len(fullName), maxAdvisedNameChars))
	}
}

// readSchema returns a copy of a compact JSON Schema whose texts have no hidden
// characters.
func readSchema(f *jsonread.Reader, key string, p *Plugin) json.RawMessage {
	if !f.Has(key) {
		f.Add(key, "is missing; build the plugin again")
		return nil
	}
	if rawJSON := f.Members[key]; rawjson.KindOf(rawJSON) != rawjson.KindObject {
		f.Add(key, "is %s; make it a JSON Schema object", rawjson.KindOf(rawJSON))
		return nil
	}
	cleaned := schema.Clean(bytes.Clone(f.Members[key]))
	if cleaned.Problem != "" {
		f.Add(key, "%s", cleaned.Problem)
	}
	for _, warning := range cleaned.Warnings {
		addWarning(f, p, key, "%s", warning)
	}
	return cleaned.Schema
}

// A property with a default is optional in the returned schema, even if the package declares it as required.
func readInputSchema(f *jsonread.Reader, p *Plugin) json.RawMessage {
	const key = "input_schema"
	rawJSON := readSchema(f, key, p)
	if rawJSON == nil {
		return nil
	}
	if string(rawjson.Get(rawJSON, "type")) != `"object"` {
		f.Add(key, `has a root that is not of type "object"; describe the input with z.object({...})`)
		return nil
	}
	return schema.RelaxDefaults(rawJSON)
}

// Versions of the opentabs SDK start at 0.1.
func isOriginalSDK(version string) bool {
	return version == "" || strings.HasPrefix(version, "0.0.")
}

// OwnSDKPrefix is the prefix of the SDK version in packages that opentabs builds. The
// original OpenTabs SDK rejects packages of a newer SDK, but accepts an SDK version that
// it cannot parse.
const OwnSDKPrefix = "opentabs-"

func isNewerSDK(version string) bool {
	textParts := strings.SplitN(strings.TrimPrefix(version, OwnSDKPrefix), ".", 3)
	if len(textParts) < 2 {
		return false
	}
	major, err := strconv.Atoi(textParts[0])
	if err != nil {
		return false
	}
	minor, err := strconv.Atoi(textParts[1])
	if err != nil {
		return false
	}
	return major > newestSDKMajor || major == newestSDKMajor && minor > newestSDKMinor
}
