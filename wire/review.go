package wire

// ToolPermission is the permission of one tool of a plugin.
type ToolPermission struct {
	Tool string `json:"tool"`
	// Permission is absent if the permission of the plugin applies to the tool.
	Permission Permission `json:"permission,omitempty"`
}

// ConfigReviewParams reviews and enables a plugin for the user.
type ConfigReviewParams struct {
	Plugin string `json:"plugin"`
	// Hash is the Hash of the PluginView that the user reviewed.
	Hash       string     `json:"hash"`
	Permission Permission `json:"permission"`
	// Tools are the tools whose permission the user changed in the review.
	Tools []ToolPermission `json:"tools,omitempty"`
}

// ConfigReviewResult is empty. ConfigReviewResult confirms that the review is saved.
type ConfigReviewResult struct{}

// PluginInspectParams requests what a user reads about a plugin before enabling it.
type PluginInspectParams struct {
	Plugin string `json:"plugin"`
}

// PluginInspectResult is what a user reads about a plugin before enabling it. The texts
// are the author's claims, without hidden characters.
type PluginInspectResult struct {
	// Hash is the Hash of the PluginView that this description belongs to.
	Hash        string `json:"hash"`
	Description string `json:"description"`
	// Package is the npm name of the package, and Folder its path on the server's
	// computer.
	Package string       `json:"package"`
	Source  PluginSource `json:"source"`
	Folder  string       `json:"folder"`
	// Author is the author that package.json names. Author is absent without a name.
	Author string `json:"author,omitempty"`
	// Excludes are match patterns of pages on the plugin's sites where the plugin does
	// not run.
	Excludes []string `json:"excludes,omitempty"`
	// PreScript is true if a script of the plugin runs before all scripts of a page.
	// RunsInFrames is true if the plugin also runs in frames of the page's origin.
	PreScript    bool `json:"preScript,omitempty"`
	RunsInFrames bool `json:"frames,omitempty"`
	// Warnings are problems of the package that do not prevent its use.
	Warnings []string `json:"warnings,omitempty"`
	// Powers are the browser features that the code mentions.
	Powers []PowerView         `json:"powers,omitempty"`
	Tools  []InspectedToolView `json:"tools,omitempty"`
	// Sections are the texts that plugin.page returns.
	Sections []SectionView `json:"sections,omitempty"`
	// LastReview is the user's last review. LastReview is absent if the user has never
	// reviewed the plugin.
	LastReview *LastReviewView `json:"lastReview,omitempty"`
}

// PluginSource is the way a plugin was installed.
type PluginSource string

const (
	// PluginSourceFolder is a folder that the user added.
	PluginSourceFolder PluginSource = "folder"
	// PluginSourceNPM is a package that opentabs installed from a registry or a file.
	PluginSourceNPM PluginSource = "npm"
	// PluginSourceGlobal is a package that npm installed globally.
	PluginSourceGlobal PluginSource = "global"
)

// PowerView is a browser feature that the code of a plugin mentions.
type PowerView struct {
	Name string `json:"name"`
	// Meaning is one sentence about what the feature can do.
	Meaning string `json:"meaning"`
	// Sections are the sections whose code mentions the feature.
	Sections []SectionName `json:"sections,omitempty"`
}

// InspectedToolView is one tool of an inspected plugin.
type InspectedToolView struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Destructive is true if the author declares that the tool may destroy data.
	Destructive bool `json:"destructive,omitempty"`
}

// SectionName is the name of a text of an inspected plugin.
type SectionName string

const (
	// SectionChanges is a unified diff from the reviewed content to the current content.
	SectionChanges SectionName = "changes"
	// SectionCode is the code that the author wrote.
	SectionCode SectionName = "code"
	// SectionPreScript is the script that runs before all scripts of a page.
	SectionPreScript SectionName = "pre-script"
	// SectionLibraries is the code that the bundler marked as libraries.
	SectionLibraries SectionName = "libraries"
)

// SectionView is the size of one text of an inspected plugin.
type SectionView struct {
	Name SectionName `json:"name"`
	// Pages is the number of pages for plugin.page, and Lines the number of lines.
	Pages int `json:"pages"`
	Lines int `json:"lines"`
	// Added and Removed are the numbers of changed lines, for SectionChanges.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// LastReviewView is the user's last review of a plugin.
type LastReviewView struct {
	Version string `json:"version,omitempty"`
	// Permission is the permission of the plugin before its content changed.
	Permission Permission `json:"permission,omitempty"`
	// AtMs is the time of the review, in milliseconds since 1970. AtMs is absent if the
	// time is unknown.
	AtMs float64 `json:"atMs,omitempty"`
}

// PluginPageParams requests one page of a section of an inspected plugin.
type PluginPageParams struct {
	Plugin string `json:"plugin"`
	// Hash is the Hash of the PluginInspectResult. The server rejects the request if the
	// plugin has changed since.
	Hash    string      `json:"hash"`
	Section SectionName `json:"section"`
	// Page counts from 1.
	Page int `json:"page"`
}

// PluginPageResult is one page of a section.
type PluginPageResult struct {
	Text string `json:"text"`
	// FirstLine is the number of the first line of Text within the section, from 1.
	FirstLine int `json:"firstLine"`
}

// PluginInstallParams installs a plugin, as `opentabs plugin install` does.
type PluginInstallParams struct {
	// Package is the name of an npm package with an optional range, or the absolute path
	// of a folder or of a package file.
	Package string `json:"package"`
}

// PluginInstallResult is the plugin that was installed. The plugin runs only after the
// user has reviewed and enabled it.
type PluginInstallResult struct {
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// PreviousVersion is the version that was replaced. PreviousVersion is absent for a
	// new plugin.
	PreviousVersion string `json:"previousVersion,omitempty"`
	// Registry is the registry of the package. Registry is absent for a folder and for a
	// package file.
	Registry string `json:"registry,omitempty"`
	// Warnings are sentences for the user.
	Warnings []string `json:"warnings,omitempty"`
}

// PluginUpdateParams updates an installed plugin to the newest version in its range.
type PluginUpdateParams struct {
	Plugin string `json:"plugin"`
}

// PluginUpdateResult has the versions of a plugin before and after an update.
type PluginUpdateResult struct {
	Version string `json:"version"`
	// PreviousVersion is absent if the plugin was up to date.
	PreviousVersion string `json:"previousVersion,omitempty"`
	// LatestVersion is a newer version outside of the range that the user chose. Without
	// such a version, LatestVersion is absent.
	LatestVersion string `json:"latestVersion,omitempty"`
	// Warnings are sentences for the user.
	Warnings []string `json:"warnings,omitempty"`
}

// PluginRemoveParams removes a plugin with its review, permissions and settings.
type PluginRemoveParams struct {
	Plugin string `json:"plugin"`
}

// PluginRemoveResult is empty. PluginRemoveResult confirms that the plugin is removed.
type PluginRemoveResult struct{}
