package plugindev

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"opentabs/internal/nearest"
)

const maxTypedBytes = 1 << 20

// ReadLines returns a channel that receives the lines of in and is closed at the end of
// in. A read from a terminal cannot be interrupted, so the goroutine that reads may
// outlive the caller.
func ReadLines(inputReader io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(inputReader)
		scanner.Buffer(nil, maxTypedBytes)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines
}

func (s *session) showPrompt() {
	if s.promptInput() == nil || s.isPromptShown {
		return
	}
	name := "plugin"
	if s.addedPlugin != nil {
		name = s.addedPlugin.Name
	}
	s.Out.ShowPrompt(name)
	s.isPromptShown = true
}

func (s *session) clearPrompt() {
	if s.isPromptShown {
		s.Out.ClearPrompt()
		s.isPromptShown = false
	}
}

func (s *session) printNotef(format string, args ...any) {
	s.clearPrompt()
	s.Out.Notef(format, args...)
}

const promptHelp = `commands:
TOOL {"name": "value"}   call a tool with JSON
TOOL name=value ...      call a tool with single arguments
call TOOL ...            the same, for a tool that is named like a command
again                    call the last tool again, with the same arguments
rerun                    do so after each build, or no longer
tools                    list the tools
tabs                     list the tabs of the plugin's sites
reload                   build again
help                     show this help
quit                     end; Ctrl-C stops a call that runs, or else ends too`

func (s *session) executeLine(ctx context.Context, line string) (isLast bool) {
	line = strings.TrimSpace(line)
	command, arguments, _ := strings.Cut(line, " ")
	switch command {
	case "":
	case "quit", "exit":
		return true
	case "help":
		s.printNotef("%s", promptHelp)
	case "again":
		s.repeatCall(ctx)
	case "rerun":
		s.RepeatLastCall = !s.RepeatLastCall
		s.printNotef("after each build, the last tool is %s", map[bool]string{true: "called again", false: "no longer called again"}[s.RepeatLastCall])
	case "tools":
		s.listTools()
	case "tabs":
		s.listTabs(ctx)
	case "reload":
		s.rebuild(ctx)
	case "call":
		tool, args, _ := strings.Cut(strings.TrimSpace(arguments), " ")
		s.callTool(ctx, tool, args)
	default:
		s.callTool(ctx, command, arguments)
	}
	return false
}

func (s *session) listTools() {
	if s.addedPlugin == nil {
		s.printNotef("there is no build yet")
		return
	}
	tableRows := [][]string{}
	for _, t := range s.addedPlugin.Tools {
		tableRows = append(tableRows, []string{t.Name, t.Description})
	}
	s.Out.PrintTable("  ", tableRows)
}

func (s *session) listTabs(ctx context.Context) {
	if s.addedPlugin == nil || s.client == nil {
		s.printNotef("no server has loaded the plugin")
		return
	}
	serverStatus, err := s.client.Status(ctx)
	if err != nil {
		s.printNotef("%v", err)
		return
	}
	tabs := findPluginTabs(serverStatus, s.addedPlugin)
	tableRows := [][]string{}
	for _, t := range tabs.upToDateTabs {
		tableRows = append(tableRows, []string{fmt.Sprint(t.id), formatReady(t.isReady), t.browser, t.url})
	}
	for _, t := range tabs.staleTabs {
		state := "loading the build"
		if t.needsReload {
			state = "needs a reload"
		}
		tableRows = append(tableRows, []string{fmt.Sprint(t.id), state, t.browser, t.url})
	}
	if len(tableRows) == 0 {
		s.printTabs(tabs, false, 0)
		return
	}
	s.Out.PrintTable("  ", tableRows)
}

func formatReady(isReady *bool) string {
	switch {
	case isReady == nil:
		return "live"
	case *isReady:
		return "ready"
	}
	return "not ready"
}

func (s *session) callTool(ctx context.Context, tool, args string) {
	if s.addedPlugin == nil {
		s.printNotef("there is no build yet")
		return
	}
	tool = strings.TrimPrefix(tool, s.addedPlugin.Name+"__")
	if !slices.Contains(s.tools, tool) {
		s.printNotef("there is no tool %q%s; `tools` lists the tools, `help` the commands", tool, nearest.Suggestion(tool, s.tools))
		return
	}
	call := Call{Tool: s.addedPlugin.Name + "__" + tool}
	if args = strings.TrimSpace(args); strings.HasPrefix(args, "{") {
		call.JSON = args
	} else {
		words, err := splitWords(args)
		if err != nil {
			s.printNotef("%v", err)
			return
		}
		call.Words = words
	}
	s.startCall(ctx, call)
}

func splitWords(line string) ([]string, error) {
	var words []string
	var command strings.Builder
	var quote rune
	isInsideWord := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, isInsideWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if isInsideWord {
				words = append(words, command.String())
			}
			command.Reset()
			isInsideWord = false
		default:
			command.WriteRune(r)
			isInsideWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the %c is not closed; close it, or write the arguments as JSON", quote)
	}
	if isInsideWord {
		words = append(words, command.String())
	}
	return words, nil
}
