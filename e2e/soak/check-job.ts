/**
 * Tests a job with the real time limits, in about 100 s. `make soak ONLY=limits` runs this test.
 */
import type { CallOutcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';
import { pause } from '../harness/wait.ts';

const heartbeatArgs = { everyMs: 10_000, forMs: 90_000 };

export async function checkDetachedJob(printLine: (line: string) => void): Promise<boolean> {
  const stack = await startStack({ serveFlags: ['--detach', 'auto'] });
  let failedCount = 0;
  const checkOutcome = (description: string, isPassed: boolean, jobOutcome: CallOutcome) => {
    if (!isPassed) failedCount++;
    const detailText = `${(jobOutcome.durationMs / 1000).toFixed(2)} s, ${jobOutcome.progress.length} notifications: ${jobOutcome.text.slice(0, 120)}`;
    printLine(`${isPassed ? 'ok  ' : 'FAIL'} ${description.padEnd(44)} ${detailText}`);
  };
  const isCloseTo = (ms: number, expectedMs: number) => Math.abs(ms - expectedMs) <= 400;
  try {
    const startMs = performance.now();
    const firstClient = await stack.connectHttp();
    const detachedOutcome = await firstClient.call('messages__heartbeat', { ...heartbeatArgs, _detach: '15' });
    const job: unknown = Object(detachedOutcome.structured).job;
    checkOutcome(
      'the client receives a job after 15 s',
      typeof job === 'string' && isCloseTo(detachedOutcome.durationMs, 15_000),
      detachedOutcome,
    );
    await pause(20_000 - (performance.now() - startMs));
    await firstClient.close();

    const secondClient = await stack.connectStdio();
    // The daemon has not recorded a request timeout of the test's client, so the daemon assumes 60 s.
    const firstWaitOutcome = await secondClient.call('job_wait', { job });
    checkOutcome(
      'job_wait returns before the client times out',
      Object(firstWaitOutcome.structured).status === 'running' && isCloseTo(firstWaitOutcome.durationMs, 50_000),
      firstWaitOutcome,
    );
    const secondWaitOutcome = await secondClient.call('job_wait', { job });
    checkOutcome(
      'job_wait returns the result after 90 s',
      Object(secondWaitOutcome.structured).beats >= 9 && isCloseTo(performance.now() - startMs, 90_000),
      secondWaitOutcome,
    );
    const jobResult = await (await stack.connectHttp()).call('job_result', { job });
    checkOutcome('a third session reads the same result', jobResult.text === secondWaitOutcome.text, jobResult);
  } finally {
    await stack.close();
  }
  return failedCount === 0;
}
