import { z } from 'zod';
import { waitFor } from '../../harness/wait.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { CancelAnswer, StreamAnswer } from '../go.ts';
import { type BenchRow, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { summarize } from '../samples.ts';

const AbortTimesResult = z.object({
  result: z.object({ structuredContent: z.object({ abortsMs: z.array(z.number()) }) }),
});

/** measureCancel measures the time from the client's notifications/cancelled to the abort signal in the page. */
export async function measureCancel(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  await stack.page.bringToFront();
  const measureOneCancel = async (): Promise<number> => {
    const { sentMs } = await fixture.goClient.sendCommand(
      { do: 'cancel', target: 'ours', tool: 'bench__wait', args: {} },
      CancelAnswer,
    );
    const abortMs = await waitFor('the page to report the abort', async () => {
      const streamAnswer = await fixture.goClient.sendCommand(
        { do: 'stream', target: 'ours', tool: 'bench__aborts', args: {} },
        StreamAnswer,
      );
      return AbortTimesResult.parse(streamAnswer.result).result.structuredContent.abortsMs[0];
    });
    return abortMs - sentMs;
  };
  const sampleBlocks: number[][] = [];
  for (let block = 0; block < 6; block++) {
    const samples: number[] = [];
    for (let i = 0; i < 10; i++) samples.push(await measureOneCancel());
    if (block > 0) sampleBlocks.push(samples); // block 0 only warms up the page and the daemon
  }
  const cancelSummary = summarize(sampleBlocks);
  return [
    {
      id: 'cancel',
      what: "time from sending notifications/cancelled to the abort of the page's AbortSignal, p50",
      ours: `${formatSummary(cancelSummary)}, max ${formatMs(cancelSummary.max)}`,
      value: cancelSummary.p50,
      threshold: makeUpperThreshold(10, 'ms'),
    },
  ];
}
