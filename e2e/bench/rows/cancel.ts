import { z } from 'zod';
import { waitFor } from '../../harness/wait.ts';
import type { Bed } from '../bench-fixture.ts';
import { Cancelled, Streamed } from '../go.ts';
import { atMost, formatSummary, ms, type Row } from '../row.ts';
import { summarize } from '../samples.ts';

const Aborts = z.object({ result: z.object({ structuredContent: z.object({ abortsMs: z.array(z.number()) }) }) });

/** cancel is the time from notifications/cancelled to the abort of the signal in the page. */
export async function cancel(bed: Bed): Promise<Row[]> {
  const { stack } = await bed.live();
  await stack.page.bringToFront();
  const once = async (): Promise<number> => {
    const { sentMs } = await bed.go.carryOut(
      { do: 'cancel', target: 'ours', tool: 'bench__wait', args: {} },
      Cancelled,
    );
    const abortMs = await waitFor('the abort in the page', async () => {
      const seen = await bed.go.carryOut({ do: 'stream', target: 'ours', tool: 'bench__aborts', args: {} }, Streamed);
      return Aborts.parse(seen.result).result.structuredContent.abortsMs[0];
    });
    return abortMs - sentMs;
  };
  const blocks: number[][] = [];
  for (let block = 0; block < 6; block++) {
    const samples: number[] = [];
    for (let i = 0; i < 10; i++) samples.push(await once());
    if (block > 0) blocks.push(samples); // the first one warms up
  }
  const seen = summarize(blocks);
  return [
    {
      id: 'cancel',
      what: "notifications/cancelled sent to the page's AbortSignal, p50",
      ours: `${formatSummary(seen)}, max ${ms(seen.max)}`,
      value: seen.p50,
      bar: atMost(10, 'ms'),
    },
  ];
}
