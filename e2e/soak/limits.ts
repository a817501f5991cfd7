/**
 * The real limits, measured at a stock client: make soak ONLY=limits. Takes a little over five minutes.
 *
 * All calls run side by side in one page; each row prints what was wanted, what came and when.
 */
import type { CallOptions, Outcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';

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
    options: { withoutProgress: true },
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

/** checkLimits runs all rows over HTTP and over stdio, and reports whether each ended as it should. */
export async function checkLimits(say: (line: string) => void): Promise<boolean> {
  const stack = await startStack();
  let failed = 0;
  try {
    const clients = { http: await stack.connectHttp(), stdio: await stack.connectStdio() };
    await Promise.all(
      Object.entries(clients).flatMap(([transport, client]) =>
        rows.map(async (row) => {
          const out = await client.call(`messages__${row.tool}`, row.args, row.options);
          const good = right(row, out);
          if (!good) failed++;
          say(`${good ? 'ok  ' : 'FAIL'} ${row.name.padEnd(34)} ${transport.padEnd(5)} ${seen(row, out)}`);
          if (out.isError) say(`       ${out.text}`);
        }),
      ),
    );
    const aborted = await stack.page.evaluate(() => document.documentElement.dataset.aborted);
    say(`the page's signal fired, last with: ${aborted ?? 'nothing'}`);
    if (aborted === undefined) failed++;
    const running = (await stack.listCalls()).filter((c) => c.status === 'running' || c.status === 'pending');
    say(`${running.length} calls are left over`);
    failed += running.length;
  } finally {
    await stack.close();
  }
  say(`${rows.length * 2 - failed} passed, ${failed} failed`);
  return failed === 0;
}

function ending(out: Outcome): string {
  return out.isError ? String(out.code) : 'ok';
}

function right(row: Row, out: Outcome): boolean {
  return (
    ending(out) === row.want &&
    Math.abs(out.durationMs - row.atMs) <= toleranceMs &&
    (row.notifications === undefined || row.notifications === out.progress.length)
  );
}

function seen(row: Row, out: Outcome): string {
  const at = (ms: number, digits: number) => `${(ms / 1000).toFixed(digits)} s`;
  return (
    `want ${row.want} at ${at(row.atMs, 1)}, got ${ending(out)} at ${at(out.durationMs, 2)},` +
    ` ${out.progress.length} notifications`
  );
}
