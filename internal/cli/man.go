package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/version"
)

// The program man indents preformatted text, so manColumns is narrower than the terminal.
const manColumns = 72

type manOptions struct {
	program *Program
	dir     string
	json    bool
}

// NewManCmd returns the hidden command that writes the manual pages for release packages.
func NewManCmd(p *Program) *cobra.Command {
	opts := manOptions{program: p}
	cmd := &cobra.Command{
		Use:    "man",
		Short:  "Write the manual pages",
		Long:   "Write a manual page in the format of man for each command.",
		Hidden: true,
		Args:   LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMan(cmd.Context(), opts, manPages(cmd.Root()))
		},
	}
	cmd.Flags().StringVar(&opts.dir, "dir", "", "write the pages to this `DIR`")
	AddJSONFlag(cmd, &opts.json)
	return cmd
}

// manPage is the file name and the text of a manual page.
type manPage struct{ file, roffText string }

func runMan(_ context.Context, opts manOptions, pages []manPage) error {
	if opts.dir == "" {
		return NewUsageError("--dir is missing: name the directory for the pages")
	}
	if err := os.MkdirAll(opts.dir, 0o755); err != nil {
		return fmt.Errorf("create the directory of the manual pages: %w", err)
	}
	files := []string{}
	for _, page := range pages {
		path := filepath.Join(opts.dir, page.file)
		if err := os.WriteFile(path, []byte(page.roffText), 0o644); err != nil {
			return errors.Join(errors.New("write the manual pages"), err)
		}
		files = append(files, path)
	}
	return opts.program.Report(opts.json, struct {
		Files []string `json:"files"`
	}{files}, "wrote %d manual pages to %s", len(files), opts.dir)
}

func manPages(cmd *cobra.Command) []manPage {
	pages := []manPage{{manName(cmd) + ".1", newManPage(cmd)}}
	for _, subcommand := range cmd.Commands() {
		if subcommand.IsAvailableCommand() || subcommand.IsAdditionalHelpTopicCommand() {
			pages = append(pages, manPages(subcommand)...)
		}
	}
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func newManPage(cmd *cobra.Command) string {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"opentabs %s\" \"opentabs manual\"\n", escapeRoff(strings.ToUpper(name)), version.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escapeRoff(name), escapeRoff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escapeRoff(cmd.UseLine()))
	}
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		for paragraph := range strings.SplitSeq(cmd.Long, "\n\n") {
			writeManParagraph(&b, paragraph)
		}
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		writeManText(&b, "OPTIONS", flags.FlagUsagesWrapped(manColumns))
	}
	if cmd.HasExample() {
		writeManText(&b, "EXAMPLES", cmd.Example)
	}
	relatedPages := []string{}
	if cmd.HasParent() {
		relatedPages = append(relatedPages, manName(cmd.Parent()))
	}
	for _, subcommand := range cmd.Commands() {
		if subcommand.IsAvailableCommand() || subcommand.IsAdditionalHelpTopicCommand() {
			relatedPages = append(relatedPages, manName(subcommand))
		}
	}
	for i, page := range relatedPages {
		relatedPages[i] = ".BR " + escapeRoff(page) + " (1)"
	}
	if len(relatedPages) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(relatedPages, ",\n"))
	}
	return b.String()
}

// Paragraphs with indented lines, such as lists, keep their line breaks.
func writeManParagraph(b *strings.Builder, paragraph string) {
	b.WriteString(".PP\n")
	isList := strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ")
	if isList {
		b.WriteString(".nf\n")
	}
	for line := range strings.Lines(paragraph) {
		b.WriteString(escapeRoff(strings.TrimRight(line, " \n")) + "\n")
	}
	if isList {
		b.WriteString(".fi\n")
	}
}

func writeManText(b *strings.Builder, title, paragraph string) {
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.Lines(paragraph) {
		b.WriteString(escapeRoff(strings.TrimRight(line, " \n")) + "\n")
	}
	b.WriteString(".fi\n")
}

func escapeRoff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
