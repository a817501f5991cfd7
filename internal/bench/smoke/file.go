package smoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Read returns the stored rows from a JSON file. If the file is missing, Read returns no
// rows and no error.
func Read(name string) ([]Row, error) {
	fileContent, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []Row
	if err := json.Unmarshal(fileContent, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// Write writes rows to a JSON file, one row per line, so that git blame finds the commit
// that last changed a row.
func Write(name string, rows []Row) error {
	var rowsJSON bytes.Buffer
	rowsJSON.WriteString("[")
	for i, smokeRow := range rows {
		if i > 0 {
			rowsJSON.WriteString(",")
		}
		line, err := json.Marshal(smokeRow)
		if err != nil {
			return err
		}
		rowsJSON.WriteString("\n")
		rowsJSON.Write(line)
	}
	rowsJSON.WriteString("\n]\n")
	return os.WriteFile(name, rowsJSON.Bytes(), 0o644)
}

func rowPrefix(id string) string { return `{"id":"` + id + `",` }

func lineNumberOfRow(fileContent, id string) int {
	for i, line := range strings.Split(fileContent, "\n") {
		if strings.HasPrefix(line, rowPrefix(id)) {
			return i + 1
		}
	}
	return 0
}
