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
	// problem is a clause about the file, such as "it is read-only". remedy is what the
	// user should do.
	problem error
	remedy  string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s cannot be changed, because %v: %s", e.File, e.problem, e.remedy)
}

func (e *FileError) Unwrap() error { return e.problem }

// newSetError returns the error for a file to which opentabs cannot be added. text is the
// current content of the file.
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

// isInline reports whether the MCP servers, in a configuration that setup cannot edit, are
// written on one line. Setup can edit a non-empty object on several lines, so isInline
// only checks that the object contains a server. The parameter servers is the path of the
// object that contains all MCP servers.
func isInline(values map[string]any, servers []string) bool {
	for _, name := range servers {
		values, _ = values[name].(map[string]any)
	}
	return len(values) > 0
}

// newRemoveError returns the error for a file from which opentabs cannot be removed.
func newRemoveError(file string, problem error) error {
	remedy := "correct the file and run the command again, or remove the server opentabs by hand"
	if errors.Is(problem, errOtherChange) {
		remedy = "remove the server opentabs by hand"
	}
	return &FileError{File: file, problem: problem, remedy: remedy}
}

// newSyntaxError describes a syntax error for a [FileError]. The error text omits the
// prefix with the parser's name, such as "toml: ".
func newSyntaxError(syntax string, err error) error {
	text := err.Error()
	for _, parser := range []string{"hujson", "toml", "yaml"} {
		text = strings.ReplaceAll(text, parser+": ", "")
	}
	return fmt.Errorf("it is not valid %s (%s)", syntax, strings.Join(strings.Fields(text), " "))
}
