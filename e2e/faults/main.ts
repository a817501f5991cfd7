/** make faults: runs the fault matrix and prints a table with one row per fault and moment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Row, rowsFile } from './cell.ts';

/** Most test cases only wait, so the files run in parallel. */
const sideBySide = 3;

const here = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `${here}${name}`);
if (files.length === 0) throw new Error('there is no fault to run');
mkdirSync(dirname(rowsFile), { recursive: true });
rmSync(rowsFile, { force: true });
const options = ['--test', '--test-reporter=spec', '--test-timeout=300000', `--test-concurrency=${sideBySide}`];
const tests = spawn('tsx', [...options, ...files], { stdio: ['ignore', 'inherit', 'ignore'] });
const [code] = await once(tests, 'exit');

const rows = readFileSync(rowsFile, 'utf8').trim().split('\n').map(readRow).sort(order);
const heads: Row = {
  fault: 'fault',
  when: 'when',
  call: 'the call',
  next: 'next call works after',
  stopReceived: 'page received cancel',
};
const keys = ['fault', 'when', 'call', 'next', 'stopReceived'] as const;
const widths = keys.map((key) => Math.max(...[heads, ...rows].map((row) => row[key].length)));
const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
const table = [
  line(keys.map((key) => heads[key])),
  line(widths.map((width) => '-'.repeat(width))),
  ...rows.map((row) => line(keys.map((key) => row[key]))),
].join('\n');
process.stdout.write(`\n${table}\n`);
writeFileSync(new URL('../out/faults.md', import.meta.url), `${table}\n`);
process.exit(code === 0 ? 0 : 1);

function readRow(text: string): Row {
  const row = Object(JSON.parse(text));
  return {
    fault: String(row.fault),
    when: String(row.when),
    call: String(row.call),
    next: String(row.next),
    stopReceived: String(row.stopReceived),
  };
}

/** order groups the rows of a fault, mid-call first. */
function order(a: Row, b: Row): number {
  return a.fault.localeCompare(b.fault) || b.when.localeCompare(a.when);
}
