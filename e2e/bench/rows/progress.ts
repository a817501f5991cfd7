import { z } from 'zod';
import type { BenchFixture } from '../bench-fixture.ts';
import { StreamAnswer } from '../go.ts';
import { type BenchRow, formatMs, formatSummary, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const reportCount = 10_000;
const roundCount = 7;

/** A task that blocks the event loop delays a 1 ms timer, and the delay equals the duration of the task. */
function startEventLoopTimer(): void {
  const turnTimes = { longestMs: 0, last: performance.now(), timer: 0 };
  turnTimes.timer = window.setInterval(() => {
    const now = performance.now();
    turnTimes.longestMs = Math.max(turnTimes.longestMs, now - turnTimes.last);
    turnTimes.last = now;
  }, 1);
  Reflect.set(window, 'benchTurns', turnTimes);
}

function readLongestTurnMs(): number {
  const turnTimes = Reflect.get(window, 'benchTurns');
  window.clearInterval(turnTimes.timer);
  return turnTimes.longestMs;
}

const ReportsResult = z.object({
  result: z.object({ structuredContent: z.object({ made: z.number(), threw: z.number(), blockedMs: z.number() }) }),
});

/** measureProgress measures how long a tool needs to send 10,000 progress reports in one synchronous loop. */
export async function measureProgress(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const longestTurnTimes: number[] = [];
  const sendLoopTimes: number[] = [];
  const callTimes: number[] = [];
  const notificationCounts: number[] = [];
  const streamProblems = new Set<string>();
  for (let roundIndex = 0; roundIndex <= roundCount; roundIndex++) {
    const streamCommand = { do: 'stream', target: 'ours', tool: 'messages__reports', args: { loop: reportCount } };
    await stack.page.evaluate(startEventLoopTimer);
    const streamAnswer = await fixture.goClient.sendCommand(streamCommand, StreamAnswer);
    const longestTurnMs = await stack.page.evaluate(readLongestTurnMs);
    const {
      made: sentReports,
      threw: throwCount,
      blockedMs,
    } = ReportsResult.parse(streamAnswer.result).result.structuredContent;
    const recordedReportCount = (await stack.listCalls()).find((call) => call.tool_name.endsWith('reports'))?.reports;
    if (sentReports !== reportCount || throwCount !== 0 || recordedReportCount !== reportCount) {
      streamProblems.add(
        `${sentReports} reports sent, ${throwCount} threw an error, ${recordedReportCount} counted; want ${reportCount}, 0, ${reportCount}`,
      );
    }
    const progressNumbers = (streamAnswer.events ?? []).map((event) => event.message.params.progress ?? Number.NaN);
    if (!progressNumbers.every((progressNumber, i) => i === 0 || progressNumber > (progressNumbers[i - 1] ?? 0)))
      streamProblems.add('the progress did not increase with each notification');
    if (progressNumbers.at(-1) !== reportCount)
      streamProblems.add(`the last progress that the client got was ${progressNumbers.at(-1)}, want ${reportCount}`);
    const callMs = streamAnswer.endedMs - streamAnswer.beganMs;
    if (progressNumbers.length > 2 + callMs / 100)
      streamProblems.add(`${progressNumbers.length} notifications came within ${formatMs(callMs)}`);
    if (roundIndex === 0) continue; // round 0 only warms up the page and the daemon
    longestTurnTimes.push(longestTurnMs);
    sendLoopTimes.push(blockedMs);
    callTimes.push(callMs);
    notificationCounts.push(progressNumbers.length);
  }
  return [
    {
      id: 'progress',
      what: `time for which ${reportCount} reports in one loop block the page, p50`,
      ours: formatTimes(longestTurnTimes),
      value: computeMedian(longestTurnTimes),
      threshold: makeUpperThreshold(150, 'ms'),
      note: `the longest turn of the page's event loop; ${formatMs(computeMedian(sendLoopTimes))} of this turn are the loop itself; all ${reportCount} were counted, in order; ${computeMedian(notificationCounts)} notifications, the final one among them; the call took ${formatMs(computeMedian(callTimes))}`,
      ...(streamProblems.size > 0 ? { broken: [...streamProblems].join('; ') } : {}),
    },
  ];
}

/**
 * measureEventDelivery measures the time from context.reportProgress() in the page until the MCP client receives the
 * progress notification.
 */
export async function measureEventDelivery(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  const measureVariant = (target: string, tool: string) => async () => {
    await (target === 'ours' ? stack.page : baselinePage).bringToFront();
    const args = { count: 21, everyMs: 150 };
    const streamAnswer = await fixture.goClient.sendCommand({ do: 'stream', target, tool, args }, StreamAnswer);
    // The first progress report is skipped, because the page is still busy when it sends the first report.
    return (streamAnswer.events ?? []).slice(1).map(({ atMs, message }) => atMs - Number(message.params.message));
  };
  const variantSummaries = await measureAlternately(6, {
    floor: measureVariant('notes', 'notes'),
    ours: measureVariant('ours', 'bench__ticks'),
  });
  const [baselineSummary, opentabsSummary] = [variantSummaries.get('floor'), variantSummaries.get('ours')];
  if (!baselineSummary || !opentabsSummary) throw new Error('nothing was measured');
  return [
    {
      id: 'event',
      what: 'time of a report from the page to the client, at one report per 150 ms, p50',
      ours: formatSummary(opentabsSummary),
      floor: formatSummary(baselineSummary),
      value: opentabsSummary.p50 / baselineSummary.p50,
      threshold: makeUpperThreshold(1.1, 'x'),
      note: "the page's clock is compared with the client's on the same machine (plugin/src/clock.ts), to about 0.1 ms",
    },
  ];
}
