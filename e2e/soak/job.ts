/**
 * A job with the real limits: a client begins a call of 90 s and leaves after 20 s, another session picks it up. Part of
 * make soak ONLY=limits; takes about 100 s.
 */
import type { Outcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';
import { pause } from '../harness/wait.ts';

const beats = { everyMs: 10_000, forMs: 90_000 };

/** checkJob reports whether the job was answered, ended and was read when it should. */
export async function checkJob(say: (line: string) => void): Promise<boolean> {
  const stack = await startStack({ serveFlags: ['--detach', 'auto'] });
  let failed = 0;
  const check = (what: string, good: boolean, out: Outcome) => {
    if (!good) failed++;
    const seen = `${(out.durationMs / 1000).toFixed(2)} s, ${out.progress.length} notifications: ${out.text.slice(0, 120)}`;
    say(`${good ? 'ok  ' : 'FAIL'} ${what.padEnd(34)} ${seen}`);
  };
  const near = (ms: number, wantMs: number) => Math.abs(ms - wantMs) <= 400;
  try {
    const begun = performance.now();
    const first = await stack.connectHttp();
    const handle = await first.call('messages__heartbeat', { ...beats, _detach: '15' });
    const job: unknown = Object(handle.structured).job;
    check('a job after 15 s', typeof job === 'string' && near(handle.durationMs, 15_000), handle);
    await pause(20_000 - (performance.now() - begun));
    await first.close();

    const second = await stack.connectStdio();
    // This client is not in the table, so it is taken to give up after 60 s.
    const early = await second.call('job_wait', { job });
    check(
      'as long as its client waits',
      Object(early.structured).status === 'running' && near(early.durationMs, 50_000),
      early,
    );
    const late = await second.call('job_wait', { job });
    check('the result after 90 s', Object(late.structured).beats >= 9 && near(performance.now() - begun, 90_000), late);
    const again = await (await stack.connectHttp()).call('job_result', { job });
    check('again, in a third session', again.text === late.text, again);
  } finally {
    await stack.close();
  }
  return failed === 0;
}
