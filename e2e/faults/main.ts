/**
 * Runs all fault tests for `make faults`, and prints a table with one row per fault, during a call and between calls.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FaultRow, rowsFile } from './matrix-cell.ts';

const parallelFileCount = 5;

mkdirSync(dirname(rowsFile), { recursive: true });
rmSync(rowsFile, { force: true });
const testProcess = spawn('../.ci/e2e-test', ['faults'], {
  stdio: ['ignore', 'inherit', 'ignore'],
  env: { ...process.env, LANES: String(parallelFileCount), RERUN_ALONE: '3' },
});
const [code] = await once(testProcess, 'exit');

// A second run of a file replaces the rows of the first run.
const rowsByCell = new Map<string, FaultRow>();
for (const rowJson of readFileSync(rowsFile, 'utf8').trim().split('\n')) {
  const matrixRow = readRow(rowJson);
  rowsByCell.set(`${matrixRow.faultName}|${matrixRow.when}`, matrixRow);
}
const matrixRows = [...rowsByCell.values()].sort(compareRows);
const headingRow: FaultRow = {
  faultName: 'fault',
  when: 'when',
  call: 'the call',
  nextAction: 'next call works after',
  stopReceived: 'page received cancel',
};
const keys = ['faultName', 'when', 'call', 'nextAction', 'stopReceived'] as const;
const columnWidths = keys.map((key) =>
  Math.max(...[headingRow, ...matrixRows].map((matrixRow) => matrixRow[key].length)),
);
const formatLine = (cells: readonly string[]) =>
  `| ${cells.map((cell, i) => cell.padEnd(columnWidths[i] ?? 0)).join(' | ')} |`;
const table = [
  formatLine(keys.map((key) => headingRow[key])),
  formatLine(columnWidths.map((width) => '-'.repeat(width))),
  ...matrixRows.map((matrixRow) => formatLine(keys.map((key) => matrixRow[key]))),
].join('\n');
process.stdout.write(`\n${table}\n`);
writeFileSync(new URL('../out/faults.md', import.meta.url), `${table}\n`);
process.exit(code === 0 ? 0 : 1);

function readRow(rowJson: string): FaultRow {
  const matrixRow = Object(JSON.parse(rowJson));
  return {
    faultName: String(matrixRow.faultName),
    when: String(matrixRow.when),
    call: String(matrixRow.call),
    nextAction: String(matrixRow.nextAction),
    stopReceived: String(matrixRow.stopReceived),
  };
}

function compareRows(firstRow: FaultRow, secondRow: FaultRow): number {
  return firstRow.faultName.localeCompare(secondRow.faultName) || secondRow.when.localeCompare(firstRow.when);
}
