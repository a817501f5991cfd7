// Arranges the cells of a table in a grid of texts, in which each row has the same number of columns.

export interface SpannedCell {
  readonly text: string;
  readonly columns: number;
  /** The field `rows` is the number of rows that the cell covers; 0 means that the cell extends to the last row. */
  readonly rows: number;
}

/** layOutCells repeats a cell in each row that the cell covers, and leaves the other columns that it covers empty. */
export function layOutCells(rows: readonly (readonly SpannedCell[])[]): string[][] {
  const cellTexts = rows.map((): string[] => []);
  for (const [y, cells] of rows.entries()) {
    let x = 0;
    for (const cell of cells) {
      while (cellTexts[y]?.[x] !== undefined) x++;
      const bottom = cell.rows === 0 ? rows.length : Math.min(rows.length, y + cell.rows);
      for (const row of cellTexts.slice(y, bottom))
        for (let i = 0; i < cell.columns; i++) row[x + i] = i === 0 ? cell.text : '';
      x += cell.columns;
    }
  }
  const nonEmptyRows = cellTexts
    .map((row) => Array.from(row, (text) => text ?? ''))
    .filter((row) => row.some((text) => text !== ''));
  const width = Math.max(0, ...nonEmptyRows.map((row) => row.findLastIndex((text) => text !== '') + 1));
  return nonEmptyRows.map((row) => Array.from({ length: width }, (_, i) => row[i] ?? ''));
}
