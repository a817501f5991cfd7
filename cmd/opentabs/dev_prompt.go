package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"opentabs/internal/config"
)

// maxTypedBytes is the longest line that is read from the terminal.
const maxTypedBytes = 1 << 20

// readLines reads what is typed. The channel is closed at the end; nobody can
// stop a read from a terminal, so the goroutine stays until then.
func readLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxTypedBytes)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// prompt asks for a line, if somebody may type one.
func (d *developer) prompt() {
	if d.typed() == nil || d.asking {
		return
	}
	name := "plugin"
	if d.added != nil {
		name = d.added.Name
	}
	d.program.out.ShowPrompt(name)
	d.asking = true
}

// clear takes the prompt off the line, for something else to stand there.
func (d *developer) clear() {
	if d.asking {
		d.program.out.ClearPrompt()
		d.asking = false
	}
}

// note says something where the prompt may stand.
func (d *developer) note(format string, args ...any) {
	d.clear()
	d.program.out.Notef(format, args...)
}

const devHelp = `what you can type:
TOOL {"name": "value"}   call a tool with JSON
TOOL name=value ...      call a tool with arguments one by one
call TOOL ...            the same, for a tool whose name is one of these words
tools                    list the tools
tabs                     list the tabs that it may run in
reload                   build it again
help                     this
quit                     end; Ctrl-C stops a call that runs, and else ends too`

// obey carries out a line and reports whether it was the last one.
func (d *developer) obey(ctx context.Context, line string) (last bool) {
	line = strings.TrimSpace(line)
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "":
	case "quit", "exit":
		return true
	case "help":
		d.note("%s", devHelp)
	case "tools":
		d.listTools()
	case "tabs":
		d.listTabs(ctx)
	case "reload":
		d.build(ctx)
	case "call":
		tool, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
		d.call(ctx, tool, args)
	default:
		d.call(ctx, word, rest)
	}
	return false
}

func (d *developer) listTools() {
	if d.added == nil {
		d.note("it was not built yet")
		return
	}
	rows := [][]string{}
	for _, t := range d.added.Tools {
		rows = append(rows, []string{t.Name, t.Description})
	}
	d.program.out.PrintTable("  ", rows)
}

func (d *developer) listTabs(ctx context.Context) {
	if d.added == nil || d.client == nil {
		d.note("no server has it just now")
		return
	}
	status, err := d.client.Status(ctx)
	if err != nil {
		d.note("%v", err)
		return
	}
	tabs := tabsOf(status, d.added)
	rows := [][]string{}
	for _, t := range tabs.live {
		rows = append(rows, []string{fmt.Sprint(t.id), readiness(t.ready), t.browser, t.url})
	}
	for _, t := range tabs.old {
		state := "not taken in yet"
		if t.reload {
			state = "reload it"
		}
		rows = append(rows, []string{fmt.Sprint(t.id), state, t.browser, t.url})
	}
	if len(rows) == 0 {
		d.noteTabs(tabs, false, 0)
		return
	}
	d.program.out.PrintTable("  ", rows)
}

// readiness is what isReady last said.
func readiness(ready *bool) string {
	switch {
	case ready == nil:
		return "live"
	case *ready:
		return "ready"
	}
	return "not ready"
}

// call begins a call; its end comes on called.
func (d *developer) call(ctx context.Context, tool, args string) {
	if d.added == nil {
		d.note("it was not built yet")
		return
	}
	tool = strings.TrimPrefix(tool, d.added.Name+"__")
	if !slices.Contains(d.tools, tool) {
		d.note("there is no tool %q%s; `tools` lists them, `help` says what else there is", tool, config.DidYouMean(tool, d.tools))
		return
	}
	opts := callOptions{program: d.program, tool: d.added.Name + "__" + tool, output: "json"}
	args = strings.TrimSpace(args)
	if strings.HasPrefix(args, "{") {
		opts.json, opts.jsonSet = args, true
	} else if words, err := splitWords(args); err != nil {
		d.note("%v", err)
		return
	} else {
		opts.args = words
	}
	ctx, d.stopCall = context.WithCancel(ctx)
	called := make(chan struct{})
	d.called = called
	go func() {
		defer close(called)
		if sentence, _ := explain(ctx, runCall(ctx, opts)); sentence != "" {
			d.program.out.Notef("%s", sentence)
		}
	}()
}

// splitWords cuts a line into words as a shell does: ' and " hold a word
// together.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inside := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the %c is not closed; close it, or give the arguments as JSON", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}
