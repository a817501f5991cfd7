/**
 * make bench: measures each number that opentabs promises (docs/performance.md), beside a floor that is measured in the same run.
 * ROWS=echo,load        these rows only BENCH_JSON=out.json   the rows as JSON too  It exits with 1 when a bar is missed.
 */
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, release } from 'node:os';
import { Bed } from './bench-fixture.ts';
import { type Row, table, verdict } from './row.ts';
import { cancel } from './rows/cancel.ts';
import { dev } from './rows/dev.ts';
import { echo, load } from './rows/echo.ts';
import { followers } from './rows/followers.ts';
import { dispatch, hub } from './rows/gobench.ts';
import { restart, worker } from './rows/heal.ts';
import { hops } from './rows/hops.ts';
import { plugins } from './rows/plugins.ts';
import { profile } from './rows/profile.ts';
import { event, progress } from './rows/progress.ts';
import { result } from './rows/result.ts';
import { server } from './rows/server.ts';
import { size, start } from './rows/start.ts';

const measures: Readonly<Record<string, (bed: Bed) => Promise<Row[]>>> = {
  // Without a browser first, so that it takes no part of the machine.
  start,
  plugins,
  size,
  dispatch,
  hub,
  server,
  followers,
  hops,
  echo,
  load,
  progress,
  event,
  result,
  cancel,
  dev,
  worker,
  restart,
};

/** onDemand are rows that explain others; a plain run leaves them out. */
const onDemand: typeof measures = { profile };

const all = { ...measures, ...onDemand };
const wanted = process.env.ROWS ? process.env.ROWS.split(',') : Object.keys(measures);
const unknown = wanted.filter((id) => !(id in all));
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no row ${unknown.join(', ')}; ROWS may name ${Object.keys(all).join(', ')}\n`);
  process.exit(2);
}

const rows: Row[] = [];
const loadBefore = loadavg()[0] ?? 0;
const bed = new Bed();
try {
  for (const [id, measure] of Object.entries(all)) {
    if (!wanted.includes(id)) continue;
    process.stderr.write(`bench: ${id} ...\n`);
    try {
      rows.push(...(await measure(bed)));
    } catch (error) {
      // The other rows are still worth their time.
      rows.push({ id, what: 'could not be measured', ours: '', broken: String(error) });
    }
  }
} finally {
  await bed.close();
}
const cpu = cpus();
const machine = `${cpu.length} x ${cpu[0]?.model ?? arch()}, ${process.platform} ${release()}`;
// Limits in absolute units are meaningful only on an idle machine.
const busy = loadBefore > 0.5 ? `; it was busy with something else (load average ${loadBefore.toFixed(1)})` : '';
process.stdout.write(`${new Date().toISOString()}, ${machine}${busy}\n\n${table(rows)}\n`);
if (process.env.BENCH_JSON) {
  const whole = {
    at: new Date().toISOString(),
    machine,
    loadBefore,
    rows: rows.map((row) => ({ ...row, verdict: verdict(row) })),
  };
  writeFileSync(process.env.BENCH_JSON, `${JSON.stringify(whole, undefined, 2)}\n`);
}
const missed = rows.filter((row) => verdict(row) === 'MISSED');
if (missed.length > 0) {
  process.stdout.write(`\n${missed.length} of ${rows.filter(verdict).length} bars missed\n`);
  process.exitCode = 1;
}
