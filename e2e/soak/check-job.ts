/**
 * Tests a job with the real time limits, in about 100 s. The command `make soak ONLY=limits` runs the test of a job.
 */
import type { CallOutcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';
import { pause } from '../harness/wait.ts';

const heartbeatArgs = { everyMs: 10_000, forMs: 90_000 };

export async function checkJob(printLine: (line: string) => void): Promise<boolean> {
  const stack = await startStack({ serveFlags: ['--detach', 'auto'] });
  let failedCount = 0;
  const checkOutcome = (description: string, passed: boolean, jobOutcome: CallOutcome) => {
    if (!passed) failedCount++;
    const detailText = `${(jobOutcome.durationMs / 1000).toFixed(2)} s, ${jobOutcome.progress.length} notifications: ${jobOutcome.text.slice(0, 120)}`;
    printLine(`${passed ? 'ok  ' : 'FAIL'} ${description.padEnd(44)} ${detailText}`);
  };
  const isNear = (ms: number, wantMs: number) => Math.abs(ms - wantMs) <= 400;
  try {
    const startMs = performance.now();
    const firstClient = await stack.connectHttp();
    const detachedOutcome = await firstClient.call('messages__heartbeat', { ...heartbeatArgs, _detach: '15' });
    const job: unknown = Object(detachedOutcome.structured).job;
    checkOutcome(
      'the client receives a job after 15 s',
      typeof job === 'string' && isNear(detachedOutcome.durationMs, 15_000),
      detachedOutcome,
    );
    await pause(20_000 - (performance.now() - startMs));
    await firstClient.close();

    const secondClient = await stack.connectStdio();
    // The daemon has not recorded a request timeout of the test's client, so the daemon assumes 60 s.
    const firstWait = await secondClient.call('job_wait', { job });
    checkOutcome(
      'job_wait returns before the client times out',
      Object(firstWait.structured).status === 'running' && isNear(firstWait.durationMs, 50_000),
      firstWait,
    );
    const secondWait = await secondClient.call('job_wait', { job });
    checkOutcome(
      'job_wait returns the result after 90 s',
      Object(secondWait.structured).beats >= 9 && isNear(performance.now() - startMs, 90_000),
      secondWait,
    );
    const jobResult = await (await stack.connectHttp()).call('job_result', { job });
    checkOutcome('a third session reads the same result', jobResult.text === secondWait.text, jobResult);
  } finally {
    await stack.close();
  }
  return failedCount === 0;
}
