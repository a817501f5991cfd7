package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"opentabs/internal/home"
	"opentabs/internal/terminal"
	"opentabs/plugin/inspection"
)

// shownSections are what a review shows beside the overview, with their titles.
var shownSections = []struct{ name, title string }{
	{inspection.SectionChanges, "What has changed since it was reviewed"},
	{inspection.SectionPreScript, "Its pre-script"},
	{inspection.SectionCode, "Its author's code"},
}

// showCode shows what has changed and the code, as the options say: on a terminal
// by the pager, elsewhere only if that is asked for. Changes are always shown.
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

// page shows a text by the person's pager, or as it is if there is none. Nothing in
// it can command the terminal.
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
	cmd.Env = append(os.Environ(), "LESSSECURE=1") // a reader, not a shell
	// The pager gets the terminal itself, to read its size.
	cmd.Stdin = strings.NewReader(terminal.SafeText(text) + "\n")
	cmd.Stdout, cmd.Stderr = p.out.Streams()
	if err := cmd.Run(); err != nil {
		p.out.Notef("the pager %q ended with an error (%v); set PAGER to another one, or see the code with `opentabs plugin inspect`", pager, err)
	}
	return nil
}
