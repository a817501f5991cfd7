/**
 * Tests a job with the real limits, in about 100 s: a client starts a call of 90 s and disconnects after 20 s, and
 * another session reads the result. To run this test, use make soak ONLY=limits.
 */
import type { Outcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';
import { pause } from '../harness/wait.ts';

const heartbeatArgs = { everyMs: 10_000, forMs: 90_000 };

/** checkJob reports whether the client received a handle, the job ended, and another session read the result at the expected times. */
export async function checkJob(printLine: (line: string) => void): Promise<boolean> {
  const stack = await startStack({ serveFlags: ['--detach', 'auto'] });
  let failed = 0;
  const check = (what: string, good: boolean, out: Outcome) => {
    if (!good) failed++;
    const measured = `${(out.durationMs / 1000).toFixed(2)} s, ${out.progress.length} notifications: ${out.text.slice(0, 120)}`;
    printLine(`${good ? 'ok  ' : 'FAIL'} ${what.padEnd(34)} ${measured}`);
  };
  const isNear = (ms: number, wantMs: number) => Math.abs(ms - wantMs) <= 400;
  try {
    const startMs = performance.now();
    const first = await stack.connectHttp();
    const handle = await first.call('messages__heartbeat', { ...heartbeatArgs, _detach: '15' });
    const job: unknown = Object(handle.structured).job;
    check('a job after 15 s', typeof job === 'string' && isNear(handle.durationMs, 15_000), handle);
    await pause(20_000 - (performance.now() - startMs));
    await first.close();

    const second = await stack.connectStdio();
    // The server's table of client timeouts does not list this client, so the server assumes a timeout of 60 s.
    const early = await second.call('job_wait', { job });
    check(
      'as long as its client waits',
      Object(early.structured).status === 'running' && isNear(early.durationMs, 50_000),
      early,
    );
    const late = await second.call('job_wait', { job });
    check(
      'the result after 90 s',
      Object(late.structured).beats >= 9 && isNear(performance.now() - startMs, 90_000),
      late,
    );
    const again = await (await stack.connectHttp()).call('job_result', { job });
    check('again, in a third session', again.text === late.text, again);
  } finally {
    await stack.close();
  }
  return failed === 0;
}
