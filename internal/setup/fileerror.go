package setup

import (
	"errors"
	"fmt"
	"strings"
)

// FileError reports that opentabs cannot change a configuration file, and what the user
// can do instead.
type FileError struct {
	File string
	// ManualLines are the lines that the user can add to the file by hand. ManualLines is
	// empty if opentabs could not be removed from the file.
	ManualLines string
	// ManualLocation describes where in the file the user must add ManualLines.
	// ManualLocation is empty if ManualLines are the complete content of a new file.
	ManualLocation string
	// The field problem is a clause about the file, such as "it is read-only".
	problem error
	remedy  string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s cannot be changed, because %v: %s", e.File, e.problem, e.remedy)
}

func (e *FileError) Unwrap() error { return e.problem }

func newSetError(c Client, text []byte, command Command, problem error) error {
	e := &FileError{File: c.File, problem: problem, remedy: "correct the file and run the command again, or add the server by hand"}
	lines, err := c.format.set(nil, c.servers, c.entry(command))
	if errors.Is(problem, errOtherChange) {
		e.remedy = "add the server by hand"
		if values, decodeErr := c.format.decode(text); decodeErr == nil && isInline(values, c.servers) {
			e.ManualLocation = "between the braces of " + strings.Join(c.servers, ".") + ", separated by a comma"
			lines, err = c.format.inline(c.entry(command))
		}
	}
	if err != nil {
		return errors.Join(e, err)
	}
	e.ManualLines = string(lines)
	return e
}

// Setup can edit a non-empty object on several lines, so isInline only checks that the object contains a server.
func isInline(values map[string]any, servers []string) bool {
	for _, name := range servers {
		values, _ = values[name].(map[string]any)
	}
	return len(values) > 0
}

func newRemoveError(file string, problem error) error {
	remedy := "correct the file and run the command again, or remove the server opentabs by hand"
	if errors.Is(problem, errOtherChange) {
		remedy = "remove the server opentabs by hand"
	}
	return &FileError{File: file, problem: problem, remedy: remedy}
}

// The error text of newSyntaxError omits the prefix with the parser's name, such as "toml: ".
func newSyntaxError(syntax string, err error) error {
	text := err.Error()
	for _, parser := range []string{"hujson", "toml", "yaml"} {
		text = strings.ReplaceAll(text, parser+": ", "")
	}
	return fmt.Errorf("it is not valid %s (%s)", syntax, strings.Join(strings.Fields(text), " "))
}
