import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs, type Row } from '../row.ts';
import { measureInTurns } from '../samples.ts';
import { startInstantServer } from './server.ts';

const text = 'x'.repeat(188);

/** measureHops divides the time of one echo into hops. Each row is the time that one additional hop adds to a route. */
export async function measureHops(fixture: BenchFixture): Promise<Row[]> {
  const { stack, floorPage } = await fixture.getLiveStack();
  const instant = await startInstantServer(fixture);
  try {
    const measureSide = (target: string) => async () => {
      if (target.startsWith('floor')) await floorPage.bringToFront();
      else await stack.page.bringToFront();
      const order = { target, tool: 'bench__echo', args: { text } };
      await fixture.measureCalls({ ...order, calls: 50 });
      return fixture.measureCalls({ ...order, calls: 300 });
    };
    const ways = ['plain', 'instant', 'floor-w', 'floor-p', 'floor-c', 'floor-d', 'ours'];
    const summaries = await measureInTurns(9, Object.fromEntries(ways.map((way) => [way, measureSide(way)])));
    const p50 = (way: string) => summaries.get(way)?.p50 ?? Number.NaN;
    const hop = (what: string, value: number): Row => ({ id: 'hops', what, ours: formatMs(value) });
    return [
      hop('HTTP: a plain JSON echo', p50('plain')),
      hop('+ guard, MCP, schema checks, dispatch (a tool that is instant)', p50('instant') - p50('plain')),
      hop("+ WebSocket to the extension's worker and back", p50('floor-w') - p50('plain')),
      hop('+ port to the content script and back', p50('floor-p') - p50('floor-w')),
      hop("+ to the page's world and back, by events (as opentabs does)", p50('floor-d') - p50('floor-p')),
      hop('  (by posted messages instead)', p50('floor-c') - p50('floor-p')),
      hop(
        '+ all that opentabs does on this way: hub, frames, tables, host, zod, handler',
        p50('ours') - p50('floor-d') - (p50('instant') - p50('plain')),
      ),
      hop('= one echo through a page', p50('ours')),
    ];
  } finally {
    await instant.close();
  }
}
