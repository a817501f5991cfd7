package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/filestore"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
)

type filesOptions struct {
	program *cli.Program
	json    bool
}

func newFilesCmd(p *cli.Program) *cobra.Command {
	opts := filesOptions{program: p}
	cmd := &cobra.Command{
		Use:   "files",
		Short: "List the files that browser tools wrote",
		Long: `List the files that browser tools wrote, such as recordings of requests, the
oldest first. A file belongs to the MCP client whose tool wrote it. opentabs
keeps at most 1 GB of files and removes the oldest.`,
		Example: "  opentabs files\n  opentabs files remove ksqk3yztn2xa",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runFiles(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.AddCommand(newFilesRemoveCmd(p))
	return cmd
}

// listedFile is the JSON object for one file in the output of `opentabs files --json`.
type listedFile struct {
	filestore.File
	Path string `json:"path"`
}

func runFiles(opts filesOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	files, err := filestore.Open(dirs.FilesDir()).List()
	if err != nil {
		return err
	}
	if opts.json {
		listedFiles := []listedFile{}
		for _, f := range files {
			listedFiles = append(listedFiles, listedFile{f, f.Path})
		}
		return p.Out.PrintValue(listedFiles)
	}
	if len(files) == 0 {
		p.Out.Notef("there are no files")
		return nil
	}
	tableRows := [][]string{{"ID", "CREATED", "SIZE", "CLIENT", "FILE"}}
	for _, f := range files {
		tableRows = append(tableRows, []string{f.ID, f.Created.Local().Format(time.DateTime), humanize.Bytes(f.SizeBytes), f.Client, f.Path})
	}
	p.Out.PrintTable("", tableRows, "CREATED", "CLIENT")
	return nil
}

type filesRemoveOptions struct {
	program    *cli.Program
	ids        []string
	removesAll bool
	json       bool
}

// removedFiles is the output of `opentabs files remove --json`.
type removedFiles struct {
	Removed []string `json:"removed"`
}

func newFilesRemoveCmd(p *cli.Program) *cobra.Command {
	opts := filesRemoveOptions{program: p}
	cmd := &cobra.Command{
		Use:     "remove [ID ...]",
		Short:   "Remove files that browser tools wrote",
		Long:    "Remove files that browser tools wrote, by their IDs. --all removes all files.",
		Example: "  opentabs files remove ksqk3yztn2xa\n  opentabs files remove --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.ids = args
			return runFilesRemove(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.removesAll, "all", false, "remove all files")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runFilesRemove(_ context.Context, opts filesRemoveOptions) error {
	p := opts.program
	if opts.removesAll == (len(opts.ids) > 0) {
		return cli.NewUsageError("name the files to remove, or give --all: run `opentabs files` for the IDs")
	}
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	store := filestore.Open(dirs.FilesDir())
	files, err := store.List()
	if err != nil {
		return err
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	for _, id := range opts.ids {
		if !slices.Contains(ids, id) {
			return cli.NewUsageError("there is no file %q: run `opentabs files` for the IDs", id)
		}
	}
	if !opts.removesAll {
		ids = opts.ids
	}
	for _, id := range ids {
		if err := store.Remove(id); err != nil && !errors.Is(err, filestore.ErrNotFound) {
			return err
		}
	}
	if opts.json {
		return p.Out.PrintValue(removedFiles{ids})
	}
	p.Out.PrintLine("removed %s", terminal.CountNoun(len(ids), "file"))
	return nil
}
