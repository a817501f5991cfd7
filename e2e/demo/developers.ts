/** Demonstrates the main function of opentabs to developers: three long calls run side by side in a real browser. */
import { ProgressBars } from '../harness/bars.ts';
import type { CallOutcome, ReceivedProgress } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';

const idleLimitMs = 30_000;

const printLine = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<boolean> {
  printLine('opentabs demo: a real server, a real headless Chromium with the real extension, a stock MCP client.');
  const startMs = Date.now();
  const stack = await startStack();
  try {
    const client = await stack.connectHttp();
    const { tools } = await client.sdk.listTools();
    printLine(
      `Up after ${formatSeconds(Date.now() - startMs)}. ${tools.length} tools in ${stack.page.url()}. Three calls begin now.\n`,
    );
    const progressBars = new ProgressBars(process.stdout, ['export (reports)', 'silent', 'export (cancelled)']);
    const stopController = new AbortController();
    const updateBar = (row: number) => (report: ReceivedProgress) =>
      progressBars.updateProgress(row, report.progress, report.total, report.message ?? '');
    setTimeout(() => stopController.abort('the demo stops this one'), 8_000);
    const [reportingOutcome, silentOutcome, cancelledCall] = await Promise.all([
      client
        .call('messages__export_messages', { channelId: 'demo-7-5000' }, { onProgress: updateBar(0) })
        .then((callOutcome) => showOutcome(progressBars, 0, callOutcome)),
      client
        .call('messages__silent', { forMs: 120_000 }, { onProgress: updateBar(1) })
        .then((callOutcome) => showOutcome(progressBars, 1, callOutcome)),
      client
        .call(
          'messages__export_messages',
          { channelId: 'cancelled-60-2000' },
          { onProgress: updateBar(2), signal: stopController.signal },
        )
        .then(
          (callOutcome) => showOutcome(progressBars, 2, callOutcome),
          (error: unknown) => {
            progressBars.endRow(
              2,
              false,
              `the client cancelled it: ${String(error instanceof Error ? error.message : error)}`,
            );
            return undefined;
          },
        ),
    ]);
    progressBars.close();
    const callRecord = (await stack.listCalls()).find((call) => call.status === 'cancelled');
    printLine('');
    return [
      reportCheck(
        !reportingOutcome.isError && reportingOutcome.durationMs > idleLimitMs + 1_000,
        `the reporting call ran ${formatSeconds(reportingOutcome.durationMs)} with ${reportingOutcome.progress.length} reports and returned ${countMessages(reportingOutcome)} messages`,
      ),
      reportCheck(
        silentOutcome.isError &&
          silentOutcome.code === 'idle_timeout' &&
          Math.abs(silentOutcome.durationMs - idleLimitMs) < 300,
        `the silent call was ended after ${formatSeconds(silentOutcome.durationMs)} with ${String(silentOutcome.code)}`,
      ),
      reportCheck(
        cancelledCall === undefined &&
          callRecord?.stopped === 'aborted' &&
          stack.site.abortedRequests.some((request) => request.startsWith('cancelled')),
        `the cancelled call: the page answered "${callRecord?.stopped ?? 'nothing'}" and its own fetch was dropped (${stack.site.abortedRequests.join(', ') || 'nothing dropped'})`,
      ),
    ].every(Boolean);
  } finally {
    await stack.close();
  }
}

function showOutcome(progressBars: ProgressBars, row: number, callOutcome: CallOutcome): CallOutcome {
  progressBars.endRow(row, !callOutcome.isError, callOutcome.isError ? callOutcome.text : 'returned its result');
  return callOutcome;
}

function reportCheck(isPassed: boolean, description: string): boolean {
  printLine(`${isPassed ? 'ok  ' : 'FAIL'} ${description}`);
  return isPassed;
}

function countMessages(callOutcome: CallOutcome): string {
  const structured = callOutcome.structured;
  return typeof structured === 'object' && structured !== null && 'count' in structured
    ? String(structured.count)
    : 'no';
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

const allPassed = await main();
printLine(allPassed ? '\nDone: all three calls behaved as expected.' : '\nThe demo failed; see the lines marked FAIL.');
process.exitCode = allPassed ? 0 : 1;
