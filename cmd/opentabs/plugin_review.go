package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/inspection"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type reviewOptions struct {
	program    *program
	name       string
	yes        bool
	permission string
	// code shows the code and noCode does not; without them it is shown on a terminal.
	code, noCode bool
}

func newPluginReviewCmd(p *program) *cobra.Command {
	opts := reviewOptions{program: p}
	cmd := &cobra.Command{
		Use:   "review NAME",
		Short: "Review and enable a plugin",
		Long: `Print what a plugin is and what it can do, then enable it. Before the review,
none of its tools run and no page gets its code. A change disables the plugin
until you review it again; the review then shows what has changed.

On a terminal the author's code is also shown, in $PAGER. Bundled libraries are
not shown (see opentabs plugin inspect).

--permission sets how the tools run: with ask each call waits for your approval,
with auto tools run without approval, and with off they do not run. Do not let
an agent run this command: the review is your decision.`,
		Example: `  opentabs plugin review messages
  opentabs plugin review messages --yes --permission auto`,
		Args: requireArgs(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.name = args[0]
			return runReview(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.code, "code", false, "print the code, also if stdout is not a terminal")
	cmd.Flags().BoolVar(&opts.noCode, "no-code", false, "do not show the code")
	cmd.MarkFlagsMutuallyExclusive("code", "no-code")
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "enable the plugin without a question")
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAsk), "how its tools run: `off, ask or auto`")
	return cmd
}

func runReview(ctx context.Context, opts reviewOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return usage("--permission: %v", err)
	}
	p := opts.program
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	now, err := book.Permissions(opts.name)
	if err != nil {
		return asUsage(err)
	}
	one, ok := book.Plugins.Plugin(opts.name)
	if !ok || one.ContentHash() != now.Hash {
		return fmt.Errorf("the plugin %s is changing: the server has loaded another version than the folder contains; try again", opts.name)
	}
	p.showPlugin(one, now)
	if err := p.showCode(ctx, book, opts); err != nil {
		return err
	}
	if !opts.yes {
		sure, err := p.confirm(fmt.Sprintf("Enable %s with the permission %q? Type yes: ", one.Name, permission))
		if err != nil {
			return err
		}
		if !sure {
			return &failure{code: exitFailed, err: fmt.Errorf("%s was not enabled; nothing has changed", one.Name)}
		}
	}
	if err := book.Review(one.Name, now.Hash, permission, httpapi.CommandLine); err != nil {
		return asUsage(err)
	}
	p.out.Notef("%s is reviewed; its permission is %s", one.Name, permission)
	if book.Client == nil {
		return nil
	}
	return p.reportTabs(ctx, book.Client)
}

// showPlugin prints what the user should know before enabling a plugin.
func (p *program) showPlugin(one *plugin.Plugin, now httpapi.PluginPermissions) {
	out := p.out
	out.PrintLine("%s %s (%s)", one.Name, terminal.SafeLine(one.Version), terminal.SafeLine(one.DisplayName))
	out.PrintLine("  %s", terminal.SafeLine(one.Description))
	rows := [][]string{{"folder", one.Dir}, {"sites", strings.Join(one.Matches, " ")}}
	if len(one.Excludes) > 0 {
		rows = append(rows, []string{"but not", strings.Join(one.Excludes, " ")})
	}
	rows = append(rows, []string{"code", codeSize(one)})
	if one.PreScript {
		rows = append(rows, []string{"before it", "dist/pre-script.iife.js, which runs before all scripts of the page and in its frames"})
	}
	rows = append(rows, callingRows(one, now)...)
	rows = append(rows, []string{"hash", now.Hash}, []string{"reviewed", reviewText(now)})
	if f := now.Fault; f != nil {
		rows = append(rows, []string{"failed", f.Text})
	}
	if r := now.Recommended; r != nil {
		rows = append(rows, []string{"advised", recommendationText(r)})
	}
	for _, row := range rows { // not truncated, because the user decides on these facts
		out.PrintLine("  %-9s %s", row[0], terminal.SafeLine(row[1]))
	}
	out.PrintLine("%s:", terminal.Plural(len(one.Tools), "tool"))
	for i, t := range one.Tools {
		out.PrintLine("  %s%s%s", t.FullName(), annotationText(t.Annotations), ownText(now.Tools[i]))
		out.PrintLine("      %s", terminal.SafeLine(t.Description))
	}
	if len(one.Prompts) > 0 {
		out.PrintLine("%s:", terminal.Plural(len(one.Prompts), "prompt"))
	}
	for _, prompt := range one.Prompts {
		out.PrintLine("  %s", prompt.FullName())
		out.PrintLine("      %s", terminal.SafeLine(prompt.Description))
	}
}

// recommendationText returns an agent's recommendation.
func recommendationText(r *httpapi.Recommendation) string {
	text := fmt.Sprintf("an agent%s recommends the permission %s; only you can enable the plugin", markText(r.Mark), r.Permission)
	if r.Note != "" {
		text += fmt.Sprintf("; it writes: %q", r.Note)
	}
	return text
}

// codeSize is the path and the size of the code that pages get.
func codeSize(one *plugin.Plugin) string {
	path := filepath.Join(one.Dir, "dist", "adapter.iife.js")
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return fmt.Sprintf("%s, %s", path, terminal.ByteSize(int(info.Size())))
}

// reviewText returns what was reviewed before, and what was allowed then.
func reviewText(now httpapi.PluginPermissions) string {
	r := now.Review
	if r == nil {
		return "never"
	}
	text := fmt.Sprintf("version %s%s", r.Version, markText(r.Mark))
	if now.Reviewed {
		return text + fmt.Sprintf("; not changed since; its permission is %s", now.Permission)
	}
	text += "; CHANGED SINCE"
	if r.Dir != "" {
		text += ", it was in " + r.Dir
	}
	if now.Stored != "" {
		text += fmt.Sprintf("; its permission was %s", now.Stored)
	}
	return text
}

// markText returns who did something, and when.
func markText(m httpapi.Mark) string {
	text := ""
	if !m.At.IsZero() {
		text += " on " + m.At.Local().Format(time.DateTime)
	}
	if m.By != "" {
		text += " by " + m.By
	}
	return text
}

// annotationText returns the author's claims about a tool, which are not verified.
func annotationText(a plugin.Annotations) string {
	var claims []string
	for _, hint := range []struct {
		value *bool
		text  string
	}{{a.ReadOnly, "only reads"}, {a.Destructive, "may destroy"}, {a.Idempotent, "may be repeated"}, {a.OpenWorld, "reaches others"}} {
		if hint.value != nil && *hint.value {
			claims = append(claims, hint.text)
		}
	}
	if len(claims) == 0 {
		return ""
	}
	return "  (its author claims: " + strings.Join(claims, ", ") + ")"
}

// ownText returns the user's settings for a tool.
func ownText(t httpapi.ToolPermissions) string {
	text := ""
	if t.Own != "" {
		text += "  " + terminal.SafeLine(string(t.Own))
	}
	if t.Limit != "" {
		text += "  limit " + terminal.SafeLine(t.Limit)
	}
	return text
}

// confirm asks the user for the word yes. Without a terminal it returns false.
func (p *program) confirm(question string) (bool, error) {
	if !terminal.IsTerminal(p.in) {
		return false, usage("there is no terminal for the question: read the review above, then run the command again with --yes")
	}
	p.out.Ask(question)
	answer, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && answer == "" {
		return false, nil // the user closed the input
	}
	return strings.TrimSpace(answer) == "yes", nil
}

// shownSections are the sections that a review shows after the overview, with their titles.
var shownSections = []struct{ name, title string }{
	{inspection.SectionChanges, "Changes since the last review"},
	{inspection.SectionPreScript, "The pre-script"},
	{inspection.SectionCode, "The author's code"},
}

// showCode shows what has changed, and the code: on a terminal in the pager, elsewhere
// only with --code.
func (p *program) showCode(ctx context.Context, book home.PolicyAccess, opts reviewOptions) error {
	in, err := book.Local.Inspect(opts.name)
	if err != nil {
		return err
	}
	code := opts.code || p.out.IsTerminal() && !opts.noCode && !opts.yes
	var b strings.Builder
	for _, s := range shownSections {
		if s.name != inspection.SectionChanges && !code {
			continue
		}
		text := ""
		for section := s.name; section != ""; {
			page, next, err := in.Page(section)
			if err != nil {
				break // there is no such section
			}
			text, section = text+page, next
		}
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", s.title, strings.TrimRight(text, "\n"))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if p.out.IsTerminal() && !opts.yes {
		return p.page(ctx, b.String())
	}
	p.out.PrintText(b.String())
	return nil
}

// page shows a text in the user's pager, or prints it if there is none. Terminal control
// characters are removed.
func (p *program) page(ctx context.Context, text string) error {
	pager := p.getenv("PAGER")
	if pager == "" {
		for _, known := range []string{"less", "more"} {
			if _, err := exec.LookPath(known); err == nil {
				pager = known
				break
			}
		}
	}
	if pager == "" {
		p.out.PrintText(text)
		return nil
	}
	shell := []string{"sh", "-c", pager}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c", pager}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.Env = append(os.Environ(), "LESSSECURE=1") // less then starts no shell
	// The pager gets the terminal's file, so that it can read the size.
	cmd.Stdin = strings.NewReader(terminal.SafeText(text) + "\n")
	cmd.Stdout, cmd.Stderr = p.out.Streams()
	if err := cmd.Run(); err != nil {
		p.out.Notef("the pager %q ended with an error (%v); set PAGER to another one, or print the code with `opentabs plugin inspect`", pager, err)
	}
	return nil
}
