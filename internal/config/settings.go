package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/version"
	"opentabs/wire"
)

// Settings are the settings of the server. Flags override environment variables, and
// environment variables override config.json.
type Settings struct {
	// Port is the TCP port on 127.0.0.1 on which the server listens; default 9527. With
	// port 0, the operating system selects a free port.
	Port int
	// IdleTimeout is the longest time a call may run without a progress report; default
	// 30 s.
	IdleTimeout time.Duration
	// MaxIdleTimeout limits the idle limit that a tool may request; default 5 min. If the
	// user has set only IdleTimeout, IdleTimeout is also the default of MaxIdleTimeout.
	MaxIdleTimeout time.Duration
	// HardTimeout is the longest time a call may run in total, even with progress
	// reports; default 5 min.
	HardTimeout time.Duration
	// DecisionTimeout is the longest time a call may wait for the user in total; default
	// 5 min.
	DecisionTimeout time.Duration
	// ProgressInterval is the minimum time between two progress notifications of a call; default
	// 100 ms. If the interval is 0, every progress report is sent.
	ProgressInterval time.Duration
	// MaxResultBytes is the maximum size of a call's result; default 100 MiB. A larger result fails with
	// result_too_large.
	MaxResultBytes int
	// MaxRunning is the maximum number of concurrently running calls per plugin; default
	// 256. Further calls are queued.
	MaxRunning int
	// MaxWaiting is the maximum number of queued calls per plugin; default 20,000. If
	// more calls than MaxWaiting are queued, the server rejects a call of the client with
	// the most queued calls.
	MaxWaiting int
	// Detach determines when a running call becomes a job, so that its client need not
	// wait; default "auto".
	Detach DetachSetting
	// Tools determines which tools MCP clients list; default "auto".
	Tools Tools
	// OutputSchemas determines whether MCP clients receive the output schemas of tools;
	// default "auto".
	OutputSchemas OutputSchemas
	// Elicitation allows approval forms in MCP clients that support forms; default true.
	// If Elicitation is false, the user decides only in the side panel or on the command
	// line.
	Elicitation bool
	// UploadFolders lists the folders from which browser tools are allowed to upload files, in
	// the format of [filepath.SplitList]. If UploadFolders is "none", browser tools cannot upload
	// files.
	UploadFolders string
	// BrowserActionsPerMinute limits how many actions per minute browser tools may perform in one
	// tab. BrowserScreenshotsPerMinute limits the screenshots of one tab per minute. 0 means no
	// limit.
	BrowserActionsPerMinute, BrowserScreenshotsPerMinute int
	// RecordDays is the number of days for which records of calls are kept; default 30.
	// If RecordDays is 0, no calls are recorded.
	RecordDays int
	// RecordBytes limits the total size of the records of calls, in bytes; default 256 MiB. If the
	// records exceed RecordBytes, the server removes the oldest records first.
	RecordBytes int
	// RecordArguments determines whether records of calls include the arguments; default
	// true. RecordResults determines whether records of calls include the results;
	// default false.
	RecordArguments, RecordResults bool
	// DiscoverGlobal determines whether plugins that npm has installed globally are
	// listed too; default true. A global plugin does not run until the user has reviewed
	// it.
	DiscoverGlobal bool
	// StoreExtensions are the IDs of the extension in the extension stores; by default,
	// the IDs of the release. Extensions with the IDs in StoreExtensions are allowed to
	// connect to the server, and `opentabs setup` links to their store pages.
	StoreExtensions StoreExtensions
	// LogLevel is the minimum level of logged events: trace, debug, info, warn or error;
	// default info.
	LogLevel string
}

// Defaults returns the default settings.
func Defaults() Settings {
	return Settings{
		Port:                        wire.DefaultPort,
		IdleTimeout:                 dispatch.DefaultIdleLimit,
		MaxIdleTimeout:              dispatch.DefaultMaxIdleLimit,
		HardTimeout:                 dispatch.DefaultHardLimit,
		DecisionTimeout:             dispatch.DefaultSuspendLimit,
		ProgressInterval:            dispatch.DefaultProgressInterval,
		MaxResultBytes:              wire.DefaultMaxResultBytes,
		MaxRunning:                  dispatch.DefaultMaxRunningCalls,
		MaxWaiting:                  dispatch.DefaultMaxWaitingCalls,
		BrowserActionsPerMinute:     60,
		BrowserScreenshotsPerMinute: 10,
		Detach:                      detachAuto,
		Tools:                       ruleAuto,
		OutputSchemas:               ruleAuto,
		Elicitation:                 true,
		UploadFolders:               noFoldersWord,
		RecordDays:                  30,
		RecordBytes:                 256 << 20,
		RecordArguments:             true,
		DiscoverGlobal:              true,
		StoreExtensions:             StoreExtensions(cmp.Or(version.StoreExtensions, noStoresWord)),
		LogLevel:                    "info",
	}
}

// UploadFolderList returns the folders of UploadFolders, or nil for "none".
func (s Settings) UploadFolderList() []string {
	if s.UploadFolders == noFoldersWord {
		return nil
	}
	return filepath.SplitList(s.UploadFolders)
}

func hasAbsoluteFolders(folderList string) bool {
	folders := Settings{UploadFolders: folderList}.UploadFolderList()
	return !slices.ContainsFunc(folders, func(folder string) bool { return !filepath.IsAbs(folder) })
}

const noFoldersWord = "none"

var logLevels = []string{"trace", "debug", "info", "warn", "error"}

// The type kind is the JSON type of a setting in config.json.
type kind string

const (
	kindNumber kind = "a whole number"
	kindText   kind = "a string"
)

// The type setting describes one setting: its names, its help text, and how its value is
// parsed and formatted.
type setting struct {
	key string
	// flag is the command-line flag without dashes, from which the environment variable's name is derived.
	flag                       string
	kind                       kind
	description, allowedValues string
	setValue                   func(s *Settings, settingValue string) bool
	get                        func(s Settings) string
}

func (r setting) variableName() string {
	return "OPENTABS_" + strings.ToUpper(strings.ReplaceAll(r.flag, "-", "_"))
}

var settingsTable = []setting{
	integerSetting("port", "port", "the `PORT` to listen on, on 127.0.0.1; 0 selects a free one",
		0, 65535, func(s *Settings) *int { return &s.Port }),
	durationSetting("idleTimeout", "idle-timeout", "end a call when it has not reported for this `TIME`",
		10*time.Millisecond, 24*time.Hour, func(s *Settings) *time.Duration { return &s.IdleTimeout }),
	durationSetting("maxIdleTimeout", "max-idle-timeout", "the longest `TIME` that a tool may set as its idle timeout; if you set --idle-timeout, that is the maximum",
		10*time.Millisecond, 24*time.Hour, func(s *Settings) *time.Duration { return &s.MaxIdleTimeout }),
	durationSetting("hardTimeout", "hard-timeout", "end a call when it has run for this `TIME`, whatever it reports",
		10*time.Millisecond, 24*time.Hour, func(s *Settings) *time.Duration { return &s.HardTimeout }),
	durationSetting("decisionTimeout", "decision-timeout", "end a call when it has waited for you for this `TIME` in total",
		10*time.Millisecond, 24*time.Hour, func(s *Settings) *time.Duration { return &s.DecisionTimeout }),
	durationSetting("progressInterval", "progress-interval", "the shortest `TIME` between two progress notifications of one call; 0 means no limit",
		0, time.Minute, func(s *Settings) *time.Duration { return &s.ProgressInterval }),
	integerSetting("maxResultBytes", "max-result-bytes", "the largest result of one call, in `BYTES`",
		1<<10, 1<<30, func(s *Settings) *int { return &s.MaxResultBytes }),
	integerSetting("maxRunning", "max-running", "the `NUMBER` of calls of one plugin that run at the same time; further calls are queued",
		1, 100000, func(s *Settings) *int { return &s.MaxRunning }),
	integerSetting("maxWaiting", "max-waiting", "the `NUMBER` of calls of one plugin that are queued; beyond that, a call of the client with the most queued calls fails",
		1, 1000000, func(s *Settings) *int { return &s.MaxWaiting }),
	textSetting("detach", "detach", "when a running call returns a job: auto (before a client gives up that is known to give up), never, or after a time such as 20s; "+
		"the `RULE` may name clients, as in \"never, claude-code=auto, Cursor=20s\"",
		`"auto", "never" or a time such as "20s" for all clients, then the values of single clients, as in "never, claude-code=auto, Cursor=20s"`,
		func(s *Settings) *DetachSetting { return &s.Detach }, func(d DetachSetting) bool { _, ok := d.parseRules(); return ok }),
	textSetting("tools", "tools", "which tools MCP clients get in their list: all, gateway (tools that search and call the others), or auto (all if the client can use that many); "+
		"the `MODE` may name clients, as in \"auto, Cursor=gateway\"",
		`"all", "gateway" or "auto" for all clients, then the values of single clients, as in "auto, Cursor=gateway"`,
		func(s *Settings) *Tools { return &s.Tools }, func(t Tools) bool { _, ok := parseKeywordRules(string(t), toolsRules); return ok }),
	textSetting("outputSchemas", "output-schemas", "whether the list of tools has output schemas: on, off, or auto (not for clients that do not use them); "+
		"the `RULE` may name clients, as in \"auto, Cursor=off\"",
		`"on", "off" or "auto" for all clients, then the values of single clients, as in "auto, Cursor=off"`,
		func(s *Settings) *OutputSchemas { return &s.OutputSchemas }, func(o OutputSchemas) bool { _, ok := parseKeywordRules(string(o), outputSchemasRules); return ok }),
	onOffSetting("elicitation", "elicitation", "whether MCP clients may ask the user to approve a call: `on or off`; with off, only the side panel and the command line ask",
		func(s *Settings) *bool { return &s.Elicitation }),
	textSetting("uploadFolders", "upload-folders", "the `FOLDERS` whose files browser tools may upload, separated by "+string(os.PathListSeparator)+", or none",
		`"none", or absolute paths separated by `+string(os.PathListSeparator),
		func(s *Settings) *string { return &s.UploadFolders }, hasAbsoluteFolders),
	integerSetting("browserActs", "browser-acts", "the `NUMBER` of acts of browser tools in one tab a minute; 0 means no limit",
		0, 100000, func(s *Settings) *int { return &s.BrowserActionsPerMinute }),
	integerSetting("browserPictures", "browser-pictures", "the `NUMBER` of pictures that browser tools take of one tab a minute; 0 means no limit",
		0, 100000, func(s *Settings) *int { return &s.BrowserScreenshotsPerMinute }),
	integerSetting("recordDays", "record-days", "keep the records of calls for this `NUMBER` of days; 0 means that no call is recorded",
		0, 3650, func(s *Settings) *int { return &s.RecordDays }),
	integerSetting("recordBytes", "record-bytes", "the largest size of all records of calls, in `BYTES`; the oldest records are removed first",
		1<<20, 1<<40, func(s *Settings) *int { return &s.RecordBytes }),
	onOffSetting("recordArguments", "record-arguments", "whether the records of calls contain the arguments, without secrets: `on or off`",
		func(s *Settings) *bool { return &s.RecordArguments }),
	onOffSetting("recordResults", "record-results", "whether the records of calls contain the results, without secrets: `on or off`",
		func(s *Settings) *bool { return &s.RecordResults }),
	onOffSetting("discoverGlobal", "discover-global", "whether plugins that npm installed globally are listed, too: `on or off`",
		func(s *Settings) *bool { return &s.DiscoverGlobal }),
	textSetting("storeExtensions", "store-extensions", "the `IDS` that stores gave the extension, as in chrome=ID, edge=ID, or none",
		`"none", or "chrome=ID" and "edge=ID", separated by a comma; an ID has 32 letters from a to p`,
		func(s *Settings) *StoreExtensions { return &s.StoreExtensions }, func(e StoreExtensions) bool { _, ok := e.parse(); return ok }),
	textSetting("logLevel", "log-level", "the lowest `LEVEL` that is logged: "+strings.Join(logLevels, ", "), "one of "+strings.Join(logLevels, ", "),
		func(s *Settings) *string { return &s.LogLevel }, func(level string) bool { return slices.Contains(logLevels, level) }),
}

func textSetting[T ~string](key, flag, description, allowedValues string, field func(*Settings) *T, isValid func(T) bool) setting {
	return setting{
		key: key, flag: flag, kind: kindText, description: description, allowedValues: allowedValues,
		setValue: func(s *Settings, settingValue string) bool {
			*field(s) = T(settingValue)
			return isValid(T(settingValue))
		},
		get: func(s Settings) string { return string(*field(&s)) },
	}
}

func onOffSetting(key, flag, description string, field func(*Settings) *bool) setting {
	return setting{
		key: key, flag: flag, kind: kindText, description: description, allowedValues: `"on" or "off"`,
		setValue: func(s *Settings, settingValue string) bool {
			*field(s) = settingValue == "on"
			return settingValue == "on" || settingValue == "off"
		},
		get: func(s Settings) string {
			if *field(&s) {
				return "on"
			}
			return "off"
		},
	}
}

func integerSetting(key, flag, description string, minimum, maximum int, field func(*Settings) *int) setting {
	return setting{
		key: key, flag: flag, description: description, kind: kindNumber,
		allowedValues: fmt.Sprintf("a whole number from %d to %d", minimum, maximum),
		setValue: func(s *Settings, settingValue string) bool {
			n, err := strconv.Atoi(settingValue)
			*field(s) = n
			return err == nil && n >= minimum && n <= maximum
		},
		get: func(s Settings) string { return strconv.Itoa(*field(&s)) },
	}
}

func durationSetting(key, flag, description string, minimum, maximum time.Duration, field func(*Settings) *time.Duration) setting {
	return setting{
		key: key, flag: flag, description: description, kind: kindText,
		allowedValues: fmt.Sprintf(`a time with its unit, such as "30s", "500ms" or "5m", from %s to %s`, humanize.ShortDuration(minimum), humanize.ShortDuration(maximum)),
		setValue: func(s *Settings, settingValue string) bool {
			d, err := time.ParseDuration(settingValue)
			*field(s) = d
			return err == nil && d >= minimum && d <= maximum
		},
		get: func(s Settings) string { return humanize.ShortDuration(*field(&s)) },
	}
}

// Flag describes a command-line flag that sets a setting.
type Flag struct {
	// Name is the name of the command-line flag without dashes. Env is the environment variable for
	// the same setting.
	Name, Env string
	// Description is the help text of the flag. Default is the default value of the
	// setting.
	Description, Default string
}

// Flags returns the command-line flags that [Load] accepts.
func Flags() []Flag {
	flags := make([]Flag, len(settingsTable))
	for i, settingRow := range settingsTable {
		flags[i] = Flag{Name: settingRow.flag, Env: settingRow.variableName(), Description: settingRow.description, Default: settingRow.get(Defaults())}
	}
	return flags
}
