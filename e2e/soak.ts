/**
 * The real limits, measured at a stock client: make soak. Takes a little over five minutes.
 *
 * All calls run side by side in one page; each row prints what was wanted, what came and when.
 */
import type { CallOptions, Outcome } from './harness/client.ts';
import { startStack } from './harness/stack.ts';

interface Row {
  readonly name: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly options?: CallOptions;
  /** The wanted ending: ok, or an error code. */
  readonly want: string;
  readonly atMs: number;
  readonly notifications?: number;
}

const heartbeat = (everyMs: number, forMs: number) => ({ everyMs, forMs });

const rows: readonly Row[] = [
  {
    name: 'reports each 10 s for 35 s',
    tool: 'heartbeat',
    args: heartbeat(10_000, 35_000),
    want: 'ok',
    atMs: 35_000,
  },
  {
    name: 'reports each 10 s for 70 s',
    tool: 'heartbeat',
    args: heartbeat(10_000, 70_000),
    want: 'ok',
    atMs: 70_000,
  },
  {
    name: 'the same without a progress token',
    tool: 'heartbeat',
    args: heartbeat(10_000, 70_000),
    options: { silent: true },
    want: 'ok',
    atMs: 70_000,
    notifications: 0,
  },
  {
    name: 'gaps of 29.5 s',
    tool: 'heartbeat',
    args: heartbeat(29_500, 88_500),
    want: 'ok',
    atMs: 88_500,
  },
  { name: 'silent', tool: 'silent', args: { forMs: 120_000 }, want: 'idle_timeout', atMs: 30_000, notifications: 0 },
  {
    name: 'silent and deaf to the stop',
    tool: 'stubborn',
    args: { forMs: 60_000 },
    want: 'idle_timeout',
    atMs: 30_000,
  },
  {
    name: 'a gap of 31 s after 10 s',
    tool: 'heartbeat',
    args: heartbeat(31_000, 62_000),
    want: 'idle_timeout',
    atMs: 30_000,
  },
  {
    name: 'reports each 10 s for ever',
    tool: 'heartbeat',
    args: heartbeat(10_000, 0),
    want: 'deadline_exceeded',
    atMs: 300_000,
  },
  {
    name: 'reports each second for ever',
    tool: 'heartbeat',
    args: heartbeat(1_000, 0),
    want: 'deadline_exceeded',
    atMs: 300_000,
  },
];

const toleranceMs = 400;
const stack = await startStack();
let failed = 0;
try {
  const http = await stack.client();
  const stdio = await stack.stdioClient();
  const show = (name: string, transport: string, row: Row, out: Outcome) => {
    const got = out.isError ? String(out.code) : 'ok';
    const good =
      got === row.want &&
      Math.abs(out.tookMs - row.atMs) <= toleranceMs &&
      (row.notifications === undefined || row.notifications === out.progress.length);
    if (!good) failed++;
    process.stdout.write(
      `${good ? 'ok  ' : 'FAIL'} ${name.padEnd(34)} ${transport.padEnd(5)} want ${row.want} at ${(row.atMs / 1000).toFixed(1)} s,` +
        ` got ${got} at ${(out.tookMs / 1000).toFixed(2)} s, ${out.progress.length} notifications\n`,
    );
    if (out.isError) process.stdout.write(`       ${out.text}\n`);
  };
  await Promise.all(
    [http, stdio].flatMap((client, i) =>
      rows.map(async (row) => {
        const out = await client.call(`messages__${row.tool}`, row.args, row.options);
        show(row.name, i === 0 ? 'http' : 'stdio', row, out);
      }),
    ),
  );
  const aborted = await stack.page.evaluate(() => document.documentElement.dataset.aborted);
  process.stdout.write(`the page's signal fired, last with: ${aborted ?? 'nothing'}\n`);
  if (aborted === undefined) failed++;
  const running = (await stack.calls()).filter((c) => c.status === 'running' || c.status === 'pending');
  process.stdout.write(`${running.length} calls are left over\n`);
  failed += running.length;
} finally {
  await stack.close();
}
process.stdout.write(`${rows.length * 2 - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
