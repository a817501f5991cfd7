package settingsform

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"opentabs/wire"
)

// PromptValues asks the user for each setting. An empty answer keeps the setting, and a hyphen removes
// the setting. The function askUser shows a question and returns the user's answer, or io.EOF
// at the end of the input. If secret is true, the terminal should hide the typed text. PromptValues
// calls notef to show a notice to the user.
func (f *Form) PromptValues(askUser func(question string, secret bool) (string, error), notef func(format string, args ...any)) error {
	notef("settings of %s; press return to keep a setting, type - to remove it", f.Plugin)
	for _, v := range f.Views {
		for hasAnswer := false; !hasAnswer; {
			input, err := askUser(formatQuestion(v), v.Secret)
			switch {
			case errors.Is(err, io.EOF) && input == "":
				return errors.New("nothing has changed")
			case err != nil && !errors.Is(err, io.EOF):
				return fmt.Errorf("read the answer: %w", err)
			}
			err = f.setInput(v, strings.TrimSpace(input))
			if hasAnswer = err == nil; !hasAnswer {
				notef("%v", err)
			}
		}
	}
	return nil
}

func formatQuestion(v wire.SettingView) string {
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
	return fmt.Sprintf("%s\n  %s [%s]: ", question, v.Key, valueText(v))
}

// For a URL setting, the user's answer NAME=URL sets the URL of one instance.
func (f *Form) setInput(v wire.SettingView, input string) error {
	switch input {
	case "":
		return nil
	case "-":
		return f.Unset(v.Key)
	}
	if name, url, hasName := strings.Cut(input, "="); hasName && v.Type == wire.SettingURL && !strings.Contains(name, ":") {
		return f.Set(v.Key+"."+name, url)
	}
	return f.Set(v.Key, input)
}
