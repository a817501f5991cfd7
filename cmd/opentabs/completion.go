package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/cli"
)

// The type completer returns the words that complete an argument or flag in a shell. A
// completer that fails returns no words, because a shell must not print errors while the
// user types.
type completer func(ctx context.Context, p *cli.Program) []string

// argumentCompleters maps a command, without "opentabs", to the completers of its arguments. The last completer in a
// command's list also completes all further arguments. A nil completer suggests no words, for example for an argument
// that is a new name.
var argumentCompleters = map[string][]completer{
	"call":                  {completeTools, nil},
	"tools":                 {completePlugins, nil},
	"tools show":            {completeTools, nil},
	"tools pin":             {completePluginsAndTools},
	"tools unpin":           {completePins},
	"calls show":            {completeCalls, nil},
	"calls approve":         {completeOpenCalls, nil},
	"calls deny":            {completeOpenCalls, nil},
	"calls cancel":          {completeOpenCalls, nil},
	"calls undo":            {completeCalls, nil},
	"plugin configure":      {completeInstalledPlugins, nil},
	"plugin create":         {nil},
	"plugin disable":        {completeInstalledPlugins},
	"plugin enable":         {completeInstalledPlugins},
	"plugin info":           {completePlugins, nil},
	"plugin inspect":        {completeInstalledPlugins, nil},
	"plugin limit":          {completeTools, completeWords("none"), nil},
	"plugin permission":     {completePluginsAndTools, completeWords("off", "ask", "auto", "default"), nil},
	"plugin remove":         {completeInstalledPlugins, nil},
	"plugin review":         {completeInstalledPlugins, nil},
	"plugin search":         {nil},
	"plugin update":         {completeInstalledPlugins},
	"client add":            {nil},
	"client remove":         {completeClients, nil},
	"client timeout set":    {completeTimeoutClients, nil},
	"client timeout forget": {completeTimeoutClients, nil},
	"config get":            {completeSettings, nil},
	"config set":            {completeSettings, nil},
	"config unset":          {completeSettings, nil},
	"browser default":       {completeBrowsersAndNone, nil},
	"browser forget":        {completeKnownBrowsers, nil},
	"browser name":          {completeKnownBrowsers, nil},
	"browser release":       {completeUsedTabs, nil},
	"browser reload-tab":    {completeTabs, nil},
	"browser site":          {completeSites, completeWords("off", "read", "ask", "auto", "default"), nil},
	"browser tools":         {completeWords("on", "off"), completeBrowserTools},
	"files remove":          {completeFileIDs},
	"pair":                  {nil}, // `opentabs pair` completes no code, because only the side panel displays codes
	"pair remove":           {completePairedBrowsers, nil},
}

// flagCompleters maps a flag with a value to its completer, or to nil if nothing can be suggested. A key such as
// "--tool" applies to this flag of every command; a key such as "audit --tool" applies to the flag of one command.
var flagCompleters = map[string]completer{
	"--allow-calls-to":            completeInstalledPlugins,
	"--browser":                   completeBrowsers,
	"--client":                    completeCallers,
	"browser default --client":    completeMCPClients,
	"setup --client":              completeSetupClients,
	"--filter":                    nil,
	"--forbid-calls-to":           completeInstalledPlugins,
	"--last":                      nil,
	"--late-access":               completeWords("on", "off"),
	"--level":                     completeWords("debug", "info", "warning", "error"),
	"--open-tabs":                 completeWords("on", "off"),
	"--permission":                completeWords("off", "ask", "auto"),
	"--plugin":                    completePlugins,
	"--since":                     nil,
	"--timeout":                   nil,
	"--tool":                      completePluginsAndTools,
	"--version":                   nil,
	"call --arg":                  nil,
	"call --idempotency-key":      nil,
	"call --input":                nil,
	"call --output":               completeWords("json", "text"),
	"call --tab":                  completeTabs,
	"calls approve --for":         nil,
	"calls cancel --reason":       nil,
	"plugin configure --instance": nil,
	"plugin configure --unset":    nil,
	"plugin create --description": nil,
	"plugin create --display":     nil,
	"plugin create --domain":      nil,
	"plugin create --world":       completeWords("main", "isolated"),
	"plugin enable --permission":  completeWords("ask", "auto"),
	"plugin inspect --section":    completeWords("overview", "tools", "code", "pre-script", "changes", "libraries"),
	"serve --browser-acts":        nil,
	"serve --browser-pictures":    nil,
	"serve --decision-timeout":    nil,
	"serve --detach":              completeWords("auto", "never"),
	"serve --discover-global":     completeWords("on", "off"),
	"serve --elicitation":         completeWords("on", "off"),
	"serve --hard-timeout":        nil,
	"serve --idle-timeout":        nil,
	"serve --log-format":          completeWords("auto", "console", "json"),
	"serve --log-level":           completeWords("trace", "debug", "info", "warn", "error"),
	"serve --max-idle-timeout":    nil,
	"serve --max-result-bytes":    nil,
	"serve --max-running":         nil,
	"serve --max-waiting":         nil,
	"serve --output-schemas":      completeWords("auto", "on", "off"),
	"serve --port":                nil,
	"serve --progress-interval":   nil,
	"serve --record-arguments":    completeWords("on", "off"),
	"serve --record-bytes":        nil,
	"serve --record-days":         nil,
	"serve --record-results":      completeWords("on", "off"),
	"serve --store-extensions":    nil,
	"serve --tools":               completeWords("auto", "all", "gateway"),
}

// fileCompletions maps commands and flags that take files or folders to shell directives. Its keys
// have the same form as those of argumentCompleters and flagCompleters.
var fileCompletions = map[string]cobra.ShellCompDirective{
	"plugin build":           cobra.ShellCompDirectiveFilterDirs,
	"plugin check":           cobra.ShellCompDirectiveFilterDirs,
	"plugin dev":             cobra.ShellCompDirectiveFilterDirs,
	"plugin install":         cobra.ShellCompDirectiveDefault,
	"plugin pack":            cobra.ShellCompDirectiveFilterDirs,
	"plugin readme":          cobra.ShellCompDirectiveFilterDirs,
	"plugin test":            cobra.ShellCompDirectiveFilterDirs,
	"--dir":                  cobra.ShellCompDirectiveFilterDirs,
	"plugin pack --out":      cobra.ShellCompDirectiveDefault,
	"serve --log-file":       cobra.ShellCompDirectiveDefault,
	"serve --upload-folders": cobra.ShellCompDirectiveFilterDirs,
}

// Without addCompletions, shells would suggest the files in the current directory.
func addCompletions(p *cli.Program, root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	addCommandCompletions(p, root, "")
}

func addCommandCompletions(p *cli.Program, cmd *cobra.Command, path string) {
	for _, subcommand := range cmd.Commands() {
		addCommandCompletions(p, subcommand, strings.TrimSpace(path+" "+subcommand.Name()))
	}
	if completers, ok := argumentCompleters[path]; ok {
		cmd.ValidArgsFunction = newCompletionFunc(p, completers)
	} else if directive, ok := fileCompletions[path]; ok {
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, directive)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		for _, key := range flagCompletionKeys(path, f) {
			complete, hasCompleter := flagCompleters[key]
			directive, hasFileCompletion := fileCompletions[key]
			if !hasCompleter && !hasFileCompletion {
				continue
			}
			completion := newFlagCompletionFunc(p, complete)
			if hasFileCompletion {
				completion = cobra.FixedCompletions(nil, directive)
			}
			if err := cmd.RegisterFlagCompletionFunc(f.Name, completion); err != nil { // cobra fails only if a flag gets a second completion
				panic(err)
			}
			return
		}
	})
}

// The help needs the backticks around value names in flag usage, but shells would show them.
func removeBackticks(cmd *cobra.Command) {
	for _, subcommand := range cmd.Commands() {
		removeBackticks(subcommand)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
}

func flagCompletionKeys(path string, f *pflag.Flag) []string {
	return []string{path + " --" + f.Name, "--" + f.Name}
}

// The completion function omits words that the command line already contains as arguments.
func newCompletionFunc(p *cli.Program, completers []completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		complete := completers[min(len(args), len(completers)-1)]
		if complete == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		commandWords := slices.DeleteFunc(complete(cmd.Context(), p), func(word string) bool {
			name, _, _ := strings.Cut(word, "\t")
			return slices.Contains(args, name)
		})
		return commandWords, cobra.ShellCompDirectiveNoFileComp
	}
}

func newFlagCompletionFunc(p *cli.Program, complete completer) cobra.CompletionFunc {
	completion := newCompletionFunc(p, []completer{complete})
	return func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return completion(cmd, nil, toComplete)
	}
}
