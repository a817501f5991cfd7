/**
 * Measures the performance limits that docs/performance.md promises, for `make bench`. The exit code is 1 if a measured
 * value misses its limit.
 *
 * ROWS=echo,load runs only the benchmark rows echo and load.
 */
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, release } from 'node:os';
import { BenchFixture } from './bench-fixture.ts';
import { type BenchRow, computeVerdict, formatTable } from './row.ts';
import { measureBrowser } from './rows/browser.ts';
import { measureCancel } from './rows/cancel.ts';
import { measureCpu } from './rows/cpu.ts';
import { measureDemo } from './rows/demo.ts';
import { measureHotReload } from './rows/dev.ts';
import { measureCallThroughput, measureEcho } from './rows/echo.ts';
import { measureDispatch, measureHubCalls, measureSearch } from './rows/gobench.ts';
import { measureServerRestart, measureWorkerRestart } from './rows/heal.ts';
import { measureHops } from './rows/hops.ts';
import { measurePlugins } from './rows/plugins.ts';
import { measureProfile } from './rows/profile.ts';
import { measureEventDelivery, measureProgress } from './rows/progress.ts';
import { measureResult } from './rows/result.ts';
import { measureServer } from './rows/server.ts';
import { measureSize, measureStart } from './rows/start.ts';
import { measureEchoWithSubscribers } from './rows/subscribed-echo.ts';
import { measureSubscribers } from './rows/subscribers.ts';

const defaultRows: Readonly<Record<string, (fixture: BenchFixture) => Promise<BenchRow[]>>> = {
  // Benchmark rows without a browser run first, because a running browser would distort their measured times.
  start: measureStart,
  plugins: measurePlugins,
  size: measureSize,
  dispatch: measureDispatch,
  hub: measureHubCalls,
  search: measureSearch,
  server: measureServer,
  subscribers: async (fixture) => [
    ...(await measureSubscribers(fixture)),
    ...(await measureEchoWithSubscribers(fixture)),
  ],
  hops: measureHops,
  echo: measureEcho,
  load: measureCallThroughput,
  progress: measureProgress,
  event: measureEventDelivery,
  result: measureResult,
  cancel: measureCancel,
  dev: measureHotReload,
  demo: measureDemo,
  worker: measureWorkerRestart,
  restart: measureServerRestart,
  browser: measureBrowser,
};

/** An on-demand benchmark row runs only if the environment variable ROWS names the row. */
const optionalRows: typeof defaultRows = { cpu: measureCpu, profile: measureProfile };

const allRows = { ...defaultRows, ...optionalRows };
const selectedRows = process.env.ROWS ? process.env.ROWS.split(',') : Object.keys(defaultRows);
const unknownRows = selectedRows.filter((id) => !(id in allRows));
if (unknownRows.length > 0) {
  process.stderr.write(
    `bench: there is no row ${unknownRows.join(', ')}; ROWS may name ${Object.keys(allRows).join(', ')}\n`,
  );
  process.exit(2);
}

const measuredRows: BenchRow[] = [];
const loadBefore = loadavg()[0] ?? 0;
const fixture = new BenchFixture();
try {
  for (const [id, measureRows] of Object.entries(allRows)) {
    if (!selectedRows.includes(id)) continue;
    process.stderr.write(`bench: ${id} ...\n`);
    try {
      measuredRows.push(...(await measureRows(fixture)));
    } catch (error) {
      measuredRows.push({ id, what: 'the row could not be measured', ours: '', broken: String(error) });
    }
  }
} finally {
  await fixture.close();
}
const cpuList = cpus();
const machineName = `${cpuList.length} x ${cpuList[0]?.model ?? arch()}, ${process.platform} ${release()}`;
// Limits in absolute units such as milliseconds are meaningful only on an idle machine.
const loadNote = loadBefore > 0.5 ? `; another program used the machine (load average ${loadBefore.toFixed(1)})` : '';
process.stdout.write(`${new Date().toISOString()}, ${machineName}${loadNote}\n\n${formatTable(measuredRows)}\n`);
if (process.env.BENCH_JSON) {
  const report = {
    at: new Date().toISOString(),
    machine: machineName,
    loadBefore,
    rows: measuredRows.map((row) => ({ ...row, verdict: computeVerdict(row) })),
  };
  writeFileSync(process.env.BENCH_JSON, `${JSON.stringify(report, undefined, 2)}\n`);
}
const failedRows = measuredRows.filter((row) => computeVerdict(row) === 'MISSED');
if (failedRows.length > 0) {
  process.stdout.write(`\n${failedRows.length} of ${measuredRows.filter(computeVerdict).length} limits missed\n`);
  process.exitCode = 1;
}
