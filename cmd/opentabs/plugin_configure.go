package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"opentabs/internal/httpapi"
	"opentabs/internal/settingsform"
	"opentabs/wire"
)

type configureOptions struct {
	program *program
	name    string
	changes settingsform.Arguments
	json    bool
}

func newPluginConfigureCmd(p *program) *cobra.Command {
	opts := configureOptions{program: p}
	cmd := &cobra.Command{
		Use:   "configure NAME [KEY=VALUE...]",
		Short: "Show or change the settings of a plugin",
		Long: `Show or change the settings of a plugin, which its tools read in the page. On a
terminal and without other arguments, the command asks for each setting.

KEY=- reads the value from stdin, which keeps a secret out of the shell's
history. A setting of type url can have several URLs by name: KEY.INSTANCE=URL,
or --instance NAME=URL for a plugin with one such setting. The plugin then also
runs on these sites.

Changes apply at once, also in open pages.`,
		Example: `  opentabs plugin configure wiki
  opentabs plugin configure wiki --instance work=https://w.example.com size=20
  pass show wiki | opentabs plugin configure wiki apiToken=-
  opentabs plugin configure wiki --unset size`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the name of a plugin is missing: run `opentabs plugin configure NAME`, or `opentabs help plugin configure`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.name, opts.changes.Sets = args[0], args[1:]
			return runConfigure(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.changes.Unset, "unset", nil, "remove the setting `KEY`; KEY.INSTANCE removes one URL")
	cmd.Flags().StringArrayVar(&opts.changes.Instances, "instance", nil, "set the URL of an instance: `NAME=URL`")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runConfigure(ctx context.Context, opts configureOptions) error {
	p := opts.program
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	views, err := book.Settings(opts.name)
	if err != nil {
		return asUsage(err)
	}
	form := settingsform.New(opts.name, views)
	isNamed := !opts.changes.IsEmpty()
	if isNamed {
		if err := form.Apply(opts.changes, p.in); err != nil {
			return err
		}
	} else if in, ok := p.in.(*os.File); ok && !opts.json && len(views) > 0 && term.IsTerminal(int(in.Fd())) {
		if err := p.askSettings(form, in); err != nil {
			return err
		}
		isNamed = true
	}
	if len(form.Changes) > 0 {
		if err := book.ChangeSettings(opts.name, form.Changes, httpapi.CommandLine); err != nil {
			return usage("%v; nothing has changed", err)
		}
		if views, err = book.Settings(opts.name); err != nil {
			return asUsage(err)
		}
	}
	switch {
	case opts.json:
		return p.out.PrintValue(views)
	case len(views) == 0:
		p.out.Notef("the plugin %s has no settings", opts.name)
	case isNamed:
		p.printChanges(opts.name, form, views)
	default:
		p.out.PrintTable("", settingRows(views))
	}
	return nil
}

// printChanges prints what was changed, and which required settings are missing.
func (p *program) printChanges(name string, form *settingsform.Form, views []wire.SettingView) {
	for _, key := range slices.Sorted(maps.Keys(form.Changes)) {
		what := "is set"
		if string(form.Changes[key]) == "null" {
			what = "is removed"
		}
		p.out.Notef("%s of %s %s", key, name, what)
	}
	if len(form.Changes) == 0 {
		p.out.Notef("nothing has changed")
	}
	for _, v := range views {
		if v.Withheld && v.Set && string(form.Changes[v.Key]) != "" {
			p.out.Notef("%s does not get %s, which is secret, because it starts after the page's scripts: allow it with `opentabs plugin permission %[1]s --late-access on`", name, v.Key)
		}
		if v.Required && !v.Set {
			p.out.Notef("%s needs %s (%s) before its tools run", name, v.Key, v.Label)
		}
	}
}

// settingRows returns the settings as a table. Of a secret it shows whether it is set.
func settingRows(views []wire.SettingView) [][]string {
	rows := [][]string{{"KEY", "TYPE", "VALUE", "MEANING"}}
	for _, v := range views {
		kind := string(v.Type)
		if v.Required {
			kind += ", required"
		}
		rows = append(rows, []string{v.Key, kind, shownSetting(v), v.Label})
	}
	return rows
}

// shownSetting returns the value of a setting for the user.
func shownSetting(v wire.SettingView) string {
	var text string
	var urls map[string]string
	switch {
	case !v.Set:
		return "(not set)"
	case v.Secret:
		return "(set, not shown" + withheldText(v) + ")"
	case json.Unmarshal(v.Value, &text) == nil:
		return text
	case v.Type == wire.SettingURL && json.Unmarshal(v.Value, &urls) == nil:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			all = append(all, name+"="+urls[name])
		}
		return strings.Join(all, " ")
	}
	return string(v.Value)
}

// askSettings asks the user for each setting. An empty answer keeps the setting, and a
// hyphen removes it.
func (p *program) askSettings(f *settingsform.Form, in *os.File) error {
	p.out.Notef("settings of %s; press return to keep a setting, type - to remove it", f.Plugin)
	lines := bufio.NewReader(in)
	for _, v := range f.Views {
		question := v.Label
		if v.Description != "" {
			question += " (" + v.Description + ")"
		}
		if len(v.Options) > 0 {
			question += ", one of " + strings.Join(v.Options, ", ")
		}
		if v.Required {
			question += ", required"
		}
		for {
			p.out.Ask(fmt.Sprintf("%s\n  %s [%s]: ", question, v.Key, shownSetting(v)))
			text, err := p.readAnswer(lines, in, v.Secret)
			if errors.Is(err, io.EOF) && text == "" {
				return &failure{code: exitFailed, err: errors.New("nothing has changed")}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("read the answer: %w", err)
			}
			switch text = strings.TrimSpace(text); text {
			case "":
			case "-":
				err = f.Unset(v.Key)
			default:
				key := v.Key
				if name, url, named := strings.Cut(text, "="); named && v.Type == wire.SettingURL && !strings.Contains(name, ":") {
					key, text = key+"."+name, url
				}
				err = f.Set(key, text)
			}
			if err == nil || errors.Is(err, io.EOF) {
				break
			}
			p.out.Notef("%v", err)
		}
	}
	return nil
}

// readAnswer reads one line, without an echo if it is a secret.
func (p *program) readAnswer(lines *bufio.Reader, in *os.File, secret bool) (string, error) {
	if !secret || lines.Buffered() > 0 { // the terminal has already shown a line that was typed ahead
		return lines.ReadString('\n')
	}
	text, err := term.ReadPassword(int(in.Fd()))
	p.out.EndQuestion()
	return string(text), err
}
