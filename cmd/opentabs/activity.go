package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// activityLines draws what a tool shows beside its progress as lines that a
// terminal obeys nowhere. The type says how: text and code are written as they
// are, a table is a list of objects or {columns, rows}. All else, and what is
// not as its type wants it, is JSON. Cells are cut at maxCell columns if cut is
// set, as for a terminal.
func activityLines(kind string, content json.RawMessage, cut bool) []string {
	text, isText := textOf(kind, content)
	switch {
	case isText:
		return textLines(text)
	case kind == "table":
		if t, ok := readTable(content); ok {
			return t.lines(cut)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, content, "", "  ") != nil {
		return textLines(string(content)) // the server sends no such thing
	}
	return strings.Split(visibleJSON(b.String()), "\n")
}

// textOf returns the text of a string, or of the code in an object, and false
// for all else.
func textOf(kind string, content json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(content, &text) == nil && !isNull(content) {
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

func isNull(content json.RawMessage) bool {
	return bytes.Equal(bytes.TrimSpace(content), []byte("null"))
}

// tabStop is how many columns stand for a tab.
const tabStop = 4

func textLines(text string) []string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabStop))
	return strings.Split(visibleText(text), "\n")
}

// maxCell is how many columns of a terminal one cell of a table takes.
const maxCell = 40

// table is what the content of a table activity says.
type table struct {
	columns []string
	// rows have a cell for each column; "" where there is none.
	rows [][]string
	// numeric is set for each column that holds numbers only.
	numeric []bool
}

// readTable reads a list of objects, whose members are the columns, or an object
// with columns and rows. It returns false for what is neither.
func readTable(content json.RawMessage) (table, bool) {
	var t table
	var rows []json.RawMessage
	if json.Unmarshal(content, &rows) != nil {
		var given struct{ Columns, Rows []json.RawMessage }
		if json.Unmarshal(content, &given) != nil || given.Rows == nil {
			return table{}, false
		}
		for _, name := range given.Columns {
			t.columns = append(t.columns, cell(name))
		}
		rows = given.Rows
	}
	named := len(t.columns) > 0
	for _, row := range rows {
		if !t.add(row, named) {
			return table{}, false
		}
	}
	return t, len(t.columns) > 0
}

// add adds a row: an object, or a list of cells if the columns are named. Where
// they are not, they are the members of the objects.
func (t *table) add(row json.RawMessage, named bool) bool {
	t.rows = append(t.rows, nil)
	var list []json.RawMessage
	if named && json.Unmarshal(row, &list) == nil {
		for i, value := range list[:min(len(list), len(t.columns))] {
			t.put(i, value)
		}
		return true
	}
	names, values, ok := members(row)
	for i, name := range names {
		column := slices.Index(t.columns, oneLine(name))
		if column < 0 && !named {
			column = len(t.columns)
			t.columns = append(t.columns, oneLine(name))
		}
		if column >= 0 {
			t.put(column, values[i])
		}
	}
	return ok
}

// put sets a cell of the last row.
func (t *table) put(column int, value json.RawMessage) {
	row := &t.rows[len(t.rows)-1]
	for len(*row) <= column {
		*row = append(*row, "")
	}
	(*row)[column] = cell(value)
	for len(t.numeric) <= column {
		t.numeric = append(t.numeric, true)
	}
	var number json.Number
	if json.Unmarshal(value, &number) != nil || value[0] == '"' {
		t.numeric[column] = false
	}
}

// members returns the members of an object in their order.
func members(object json.RawMessage) (names []string, values []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, false
	}
	for dec.More() {
		token, err := dec.Token()
		name, isText := token.(string)
		var value json.RawMessage
		if err != nil || !isText || dec.Decode(&value) != nil {
			return nil, nil, false
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values, true
}

// cell is a value on one line: a string as it is, nothing for null, all else as
// JSON.
func cell(value json.RawMessage) string {
	var text string
	switch {
	case isNull(value):
		return ""
	case json.Unmarshal(value, &text) == nil:
		return oneLine(text)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return oneLine(string(value))
	}
	return visibleJSON(b.String())
}

func (t table) lines(cut bool) []string {
	rows := append([][]string{t.columns}, t.rows...)
	if cut {
		for _, row := range rows {
			for i := range row {
				row[i] = fit(row[i], maxCell)
			}
		}
	}
	return aligned(rows, t.numeric)
}
