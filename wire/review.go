package wire

// ToolPermission is the permission of one tool of a plugin.
type ToolPermission struct {
	Tool string `json:"tool"`
	// The field Permission is absent if the tool has no separate permission, so that the
	// plugin's permission applies.
	Permission Permission `json:"permission,omitempty"`
}

// ConfigReviewParams stores the user's review of a plugin and enables the plugin.
type ConfigReviewParams struct {
	Plugin string `json:"plugin"`
	// The field Hash is the PluginView.Hash of the content that the user reviewed.
	Hash       string     `json:"hash"`
	Permission Permission `json:"permission"`
	// Tools contains only the tools whose permission the user changed during the review.
	Tools []ToolPermission `json:"tools,omitempty"`
}

// ConfigReviewResult is an empty object that confirms that the server stored the user's
// review.
type ConfigReviewResult struct{}

// PluginInspectParams requests the description of a plugin that the user reads before
// enabling the plugin.
type PluginInspectParams struct {
	Plugin string `json:"plugin"`
}

// PluginInspectResult is the description of a plugin that the user reads before enabling
// the plugin. The texts of a PluginInspectResult come from the plugin's author, but the
// server removes hidden characters.
type PluginInspectResult struct {
	// The field Hash is the PluginView.Hash of the content that the result describes.
	Hash        string `json:"hash"`
	Description string `json:"description"`
	// Package is the npm name of the plugin's package. Folder is the absolute path of the
	// package on the server's computer.
	Package string       `json:"package"`
	Source  PluginSource `json:"source"`
	Folder  string       `json:"folder"`
	// Author is the author's name in package.json. The field Author is absent if
	// package.json names no author.
	Author string `json:"author,omitempty"`
	// The field Excludes contains Chrome match patterns of pages on which the plugin does
	// not run although its sites match.
	Excludes []string `json:"excludes,omitempty"`
	// PreScript is true if the plugin has a script that runs before all scripts of a page.
	// RunsInFrames is true if the plugin also runs in child frames with the origin of the
	// page.
	PreScript    bool `json:"preScript,omitempty"`
	RunsInFrames bool `json:"frames,omitempty"`
	// The field Warnings contains problems of the plugin's package that do not prevent
	// its use.
	Warnings []string `json:"warnings,omitempty"`
	// The field Powers contains the sensitive browser features that the plugin's code
	// uses.
	Powers []PowerView         `json:"powers,omitempty"`
	Tools  []InspectedToolView `json:"tools,omitempty"`
	// The field Sections contains the sizes of the texts that plugin.page can return, such
	// as the plugin's code.
	Sections []SectionView `json:"sections,omitempty"`
	// LastReview is the user's last review of the plugin. LastReview is absent if the user has
	// never reviewed the plugin.
	LastReview *LastReviewView `json:"lastReview,omitempty"`
}

// PluginSource is how a plugin was installed: as a folder, by opentabs, or globally by npm.
type PluginSource string

const (
	// PluginSourceFolder means that the user added a folder that contains the plugin.
	PluginSourceFolder PluginSource = "folder"
	// PluginSourceNPM means that opentabs installed the plugin's package from a registry
	// or a file.
	PluginSourceNPM PluginSource = "npm"
	// PluginSourceGlobal means that npm installed the plugin's package globally.
	PluginSourceGlobal PluginSource = "global"
)

// PowerView describes a sensitive browser feature that the code of a plugin uses.
type PowerView struct {
	Name string `json:"name"`
	// Meaning is a sentence that explains what code can do with the browser feature.
	Meaning string `json:"meaning"`
	// The field Sections contains the parts of the plugin's code that use the browser
	// feature.
	Sections []SectionName `json:"sections,omitempty"`
}

// InspectedToolView is one tool of an inspected plugin.
type InspectedToolView struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// The field Destructive is true if the plugin's author declares that the tool may
	// destroy data.
	Destructive bool `json:"destructive,omitempty"`
}

// SectionName is the name of a text that the user can read while reviewing a plugin.
type SectionName string

const (
	// SectionChanges is a unified diff between the reviewed content and the current
	// content of a plugin.
	SectionChanges SectionName = "changes"
	// SectionCode is the code that the plugin's author wrote.
	SectionCode SectionName = "code"
	// SectionPreScript is the script of the plugin that runs before all scripts of a page.
	SectionPreScript SectionName = "pre-script"
	// SectionLibraries is the code that the bundler marked as library code.
	SectionLibraries SectionName = "libraries"
)

// SectionView is the size of a text that the user can read while reviewing a plugin.
type SectionView struct {
	Name SectionName `json:"name"`
	// Pages is the number of pages into which plugin.page splits the text. Lines is the number
	// of lines of the text.
	Pages int `json:"pages"`
	Lines int `json:"lines"`
	// The fields Added and Removed are the numbers of added and removed lines in
	// SectionChanges.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// LastReviewView is the user's last review of a plugin.
type LastReviewView struct {
	Version string `json:"version,omitempty"`
	// Permission is the permission that the plugin had before its content changed.
	Permission Permission `json:"permission,omitempty"`
	// AtMs is the time of the review in milliseconds since 1970. AtMs is absent if the time is
	// unknown.
	AtMs float64 `json:"atMs,omitempty"`
}

// PluginPageParams requests one page of a section of an inspected plugin.
type PluginPageParams struct {
	Plugin string `json:"plugin"`
	// The field Hash is PluginInspectResult.Hash. The server rejects a plugin.page request if
	// the plugin has changed since the plugin.inspect request.
	Hash    string      `json:"hash"`
	Section SectionName `json:"section"`
	// Page is the number of the requested page of the section, from 1.
	Page int `json:"page"`
}

// PluginPageResult is one page of a section of an inspected plugin.
type PluginPageResult struct {
	Text string `json:"text"`
	// FirstLine is the number of the page's first line within the section, from 1.
	FirstLine int `json:"firstLine"`
}

// PluginInstallParams requests the installation of a plugin, as in `opentabs plugin
// install`.
type PluginInstallParams struct {
	// Package is the name of an npm package with an optional version range, or the
	// absolute path of a folder or a package file.
	Package string `json:"package"`
}

// PluginInstallResult describes the installed plugin, which does not run until the user has
// reviewed and enabled the plugin.
type PluginInstallResult struct {
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// PreviousVersion is the version that the installation replaced. PreviousVersion is absent
	// if the plugin was not installed before.
	PreviousVersion string `json:"previousVersion,omitempty"`
	// Registry is the npm registry of the package. The field Registry is absent if the plugin
	// comes from a folder or a package file.
	Registry string `json:"registry,omitempty"`
	// The field Warnings contains sentences for the user about problems of the package.
	Warnings []string `json:"warnings,omitempty"`
}

// PluginUpdateParams requests an update of a plugin to the newest version in the range that
// the user chose.
type PluginUpdateParams struct {
	Plugin string `json:"plugin"`
}

// PluginUpdateResult contains the versions of a plugin before and after an update.
type PluginUpdateResult struct {
	Version string `json:"version"`
	// PreviousVersion is the version before the update. PreviousVersion is absent if no newer
	// version was available.
	PreviousVersion string `json:"previousVersion,omitempty"`
	// LatestVersion is a newer version that is outside the version range that the user chose.
	// LatestVersion is absent if no such version exists.
	LatestVersion string `json:"latestVersion,omitempty"`
	// The field Warnings contains sentences for the user about problems of the package.
	Warnings []string `json:"warnings,omitempty"`
}

// PluginRemoveParams requests the removal of a plugin with its review, permissions and
// settings.
type PluginRemoveParams struct {
	Plugin string `json:"plugin"`
}

// PluginRemoveResult is an empty object that confirms that the server removed the plugin.
type PluginRemoveResult struct{}
