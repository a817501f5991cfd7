package terminal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"opentabs/internal/rawjson"
)

// ContentLines returns the content of an activity as lines that are safe for a
// terminal. Content of type text or code is written unchanged. Content of type table is
// a list of objects, or an object with the members columns and rows. Content of any
// other type, and content that does not match its type, is written as JSON. If shorten
// is set, as for a terminal, cells are cut at 40 columns.
func ContentLines(kind string, content json.RawMessage, shorten bool) []string {
	text, isText := readText(kind, content)
	switch {
	case isText:
		return textLines(text)
	case kind == "table":
		if t, ok := readTable(content); ok {
			return t.renderLines(shorten)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, content, "", "  ") != nil {
		return textLines(string(content)) // the server sends valid JSON
	}
	return strings.Split(safeJSON(b.String()), "\n")
}

// JSONLines returns a JSON text as indented lines that are safe for a terminal. Text
// that is not JSON, such as truncated JSON, keeps its lines.
func JSONLines(text string) []string {
	return ContentLines("json", json.RawMessage(text), false)
}

// readText returns a string, or the code in an object of type code; ok is false for
// other content.
func readText(kind string, content json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(content, &text) == nil && !isNullJSON(content) {
		return text, true
	}
	var code struct {
		Code *string `json:"code"`
	}
	if kind == "code" && json.Unmarshal(content, &code) == nil && code.Code != nil {
		return *code.Code, true
	}
	return "", false
}

func isNullJSON(content json.RawMessage) bool {
	return bytes.Equal(bytes.TrimSpace(content), []byte("null"))
}

// tabStop is how many spaces replace a tab.
const tabStop = 4

// textLines splits text into lines that are safe for a terminal.
func textLines(text string) []string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabStop))
	return strings.Split(safeText(text), "\n")
}

// maxCell is the greatest width of a table's cell, in columns of a terminal.
const maxCell = 40

// table is the content of an activity of type table.
type table struct {
	columns []string
	// rows have a cell for each column; an empty cell is "".
	rows [][]string
	// numeric is set for each column that has only numbers.
	numeric []bool
}

// readTable reads a list of objects, whose members are the columns, or an object with
// columns and rows. ok is false for content that is not a table.
func readTable(content json.RawMessage) (t table, ok bool) {
	var rows []json.RawMessage
	if json.Unmarshal(content, &rows) != nil {
		var namedTable struct{ Columns, Rows []json.RawMessage }
		if json.Unmarshal(content, &namedTable) != nil || namedTable.Rows == nil {
			return table{}, false
		}
		for _, name := range namedTable.Columns {
			t.columns = append(t.columns, cellText(name))
		}
		rows = namedTable.Rows
	}
	hasColumns := len(t.columns) > 0
	for _, row := range rows {
		if !t.addRow(row, hasColumns) {
			return table{}, false
		}
	}
	return t, len(t.columns) > 0
}

// addRow adds a row: an object, or a list of cells if the columns are named. Without
// named columns, the members of the objects become the columns.
func (t *table) addRow(row json.RawMessage, hasColumns bool) bool {
	t.rows = append(t.rows, nil)
	var cells []json.RawMessage
	if hasColumns && json.Unmarshal(row, &cells) == nil {
		for i, value := range cells[:min(len(cells), len(t.columns))] {
			t.setCell(i, value)
		}
		return true
	}
	for m := range rawjson.Members(row) {
		column := slices.Index(t.columns, SafeLine(m.Key))
		if column < 0 && !hasColumns {
			column = len(t.columns)
			t.columns = append(t.columns, SafeLine(m.Key))
		}
		if column >= 0 {
			t.setCell(column, m.Value)
		}
	}
	return rawjson.KindOf(row) == rawjson.KindObject
}

// setCell sets a cell of the last row.
func (t *table) setCell(column int, value json.RawMessage) {
	row := &t.rows[len(t.rows)-1]
	for len(*row) <= column {
		*row = append(*row, "")
	}
	(*row)[column] = cellText(value)
	for len(t.numeric) <= column {
		t.numeric = append(t.numeric, true)
	}
	var number json.Number
	if json.Unmarshal(value, &number) != nil || value[0] == '"' {
		t.numeric[column] = false
	}
}

// cellText returns a value on one line: a string as it is, null as "", other values
// as JSON.
func cellText(value json.RawMessage) string {
	var text string
	switch {
	case isNullJSON(value):
		return ""
	case json.Unmarshal(value, &text) == nil:
		return SafeLine(text)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return SafeLine(string(value))
	}
	return safeJSON(b.String())
}

// renderLines returns the table with its head and aligned columns.
func (t table) renderLines(shorten bool) []string {
	rows := append([][]string{t.columns}, t.rows...)
	if shorten {
		for _, row := range rows {
			for i := range row {
				row[i] = truncateColumns(row[i], maxCell)
			}
		}
	}
	return alignColumns(rows, t.numeric)
}
