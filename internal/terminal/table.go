package terminal

import (
	"slices"
	"strings"
)

const (
	minLastColumn = 24
	// minTruncatedColumn is the width below which a middle column of a table is not
	// truncated further.
	minTruncatedColumn = 24
)

// PrintTable prints rows as a table with aligned cells, and begins each line with the text in indent. The first element
// of rows contains the names of the columns.
//
// On a terminal, the last column is truncated at the edge. In a narrow terminal, PrintTable omits the columns in
// optionalColumns one by one, in order, until the table fits. A table that is still too wide is truncated in the
// columns between the first and the last. In a pipe, PrintTable prints every cell completely.
func (o *Output) PrintTable(indent string, tableRows [][]string, optionalColumns ...string) {
	columns, _ := o.Size()
	for _, name := range optionalColumns {
		if !o.stdout.isTerminal || tableWidth(indent, tableRows) <= columns {
			break
		}
		if i := slices.Index(tableRows[0], name); i >= 0 {
			for n, tableRow := range tableRows {
				tableRows[n] = slices.Delete(slices.Clone(tableRow), i, i+1)
			}
		}
	}
	makeCellsSafe(tableRows)
	if o.stdout.isTerminal {
		truncateWideColumns(tableRows, tableWidth(indent, tableRows)-columns)
	}
	lines := alignColumns(tableRows, nil)
	for i, line := range lines {
		lines[i] = strings.TrimRight(indent+line, " ")
		if o.stdout.isTerminal {
			lines[i] = truncateColumns(lines[i], columns)
		}
		if !o.hasStdoutColor {
			continue
		}
		if i == 0 && isHeader(tableRows[0]) {
			lines[i] = styleBold + lines[i] + styleReset
		} else {
			lines[i] = colorCells(lines[i], len(indent), tableRows[i], columnWidths(tableRows))
		}
	}
	o.PrintEscapedLines(lines...)
}

// FitsTable reports whether [Output.PrintTable] would print each cell of rows completely.
// PrintTable prints cells completely in a pipe, and on a terminal that is wide enough. Like
// PrintTable, FitsTable replaces control characters in the cells of rows.
func FitsTable(o *Output, tableRows [][]string) bool {
	if !o.stdout.isTerminal {
		return true
	}
	makeCellsSafe(tableRows)
	width := 2 * (len(tableRows[0]) - 1)
	for _, columnWidth := range columnWidths(tableRows) {
		width += columnWidth
	}
	columns, _ := o.Size()
	return width <= columns
}

func makeCellsSafe(tableRows [][]string) {
	for _, tableRow := range tableRows {
		for i, cell := range tableRow {
			indentWidth := len(cell) - len(strings.TrimLeft(cell, " "))
			tableRow[i] = cell[:indentWidth] + SafeLine(cell)
		}
	}
}

// The first column, which has the names of the rows, and the last column of the table are not truncated.
func truncateWideColumns(tableRows [][]string, excessColumns int) {
	widths := columnWidths(tableRows)
	for i := 1; i < len(widths)-1 && excessColumns > 0; i++ {
		width := widths[i]
		newWidth := max(minTruncatedColumn, width-excessColumns)
		if newWidth >= width {
			continue
		}
		for _, tableRow := range tableRows {
			tableRow[i] = truncateColumns(tableRow[i], newWidth)
		}
		excessColumns -= width - newWidth
	}
}

func tableWidth(indent string, tableRows [][]string) int {
	widths := columnWidths(tableRows)
	lastIndex := len(widths) - 1
	width := len(indent) + min(widths[lastIndex], minLastColumn)
	for _, columnWidth := range widths[:lastIndex] {
		width += columnWidth + 2
	}
	return width
}

func isHeader(tableRow []string) bool {
	names := strings.Join(tableRow, "")
	return names != "" && names == strings.ToUpper(names)
}

func columnWidths(tableRows [][]string) []int {
	var widths []int
	for _, tableRow := range tableRows {
		for i, cell := range tableRow {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	return widths
}

// The caller of alignColumns must have removed control characters from the cells.
func alignColumns(tableRows [][]string, alignRight []bool) []string {
	widths := columnWidths(tableRows)
	lines := make([]string, len(tableRows))
	for n, tableRow := range tableRows {
		var b strings.Builder
		for i, cell := range tableRow {
			cellPadding := strings.Repeat(" ", widths[i]-textWidth(cell))
			if i < len(alignRight) && alignRight[i] {
				cell, cellPadding = cellPadding+cell, ""
			}
			b.WriteString(cell + cellPadding + "  ")
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
