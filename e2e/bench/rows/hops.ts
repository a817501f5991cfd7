import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs, type Row } from '../row.ts';
import { measureInTurns } from '../samples.ts';
import { startInstantServer } from './server.ts';

const text = 'x'.repeat(188);

/** measureHops divides the time of one echo into hops. Each row is the time that one additional hop adds to a route. */
export async function measureHops(fixture: BenchFixture): Promise<Row[]> {
  const { stack, floorPage } = await fixture.getLiveStack();
  const instantServer = await startInstantServer(fixture);
  try {
    const measureSide = (target: string) => async () => {
      if (target.startsWith('floor')) await floorPage.bringToFront();
      else await stack.page.bringToFront();
      const order = { target, tool: 'bench__echo', args: { text } };
      await fixture.measureCalls({ ...order, calls: 50 });
      return fixture.measureCalls({ ...order, calls: 300 });
    };
    const targets = ['plain', 'instant', 'floor-w', 'floor-p', 'floor-c', 'floor-d', 'ours'];
    const summaries = await measureInTurns(
      9,
      Object.fromEntries(targets.map((target) => [target, measureSide(target)])),
    );
    const p50 = (target: string) => summaries.get(target)?.p50 ?? Number.NaN;
    const makeHopRow = (description: string, value: number): Row => ({
      id: 'hops',
      what: description,
      ours: formatMs(value),
    });
    return [
      makeHopRow('time of a plain JSON echo over HTTP', p50('plain')),
      makeHopRow(
        '+ time of guard, MCP, schema checks and dispatch, with a tool that returns at once',
        p50('instant') - p50('plain'),
      ),
      makeHopRow("+ time over the WebSocket to the extension's worker and back", p50('floor-w') - p50('plain')),
      makeHopRow('+ time over the port to the content script and back', p50('floor-p') - p50('floor-w')),
      makeHopRow("+ time to the page's world and back with events, as in opentabs", p50('floor-d') - p50('floor-p')),
      makeHopRow("  (time to the page's world and back with posted messages)", p50('floor-c') - p50('floor-p')),
      makeHopRow(
        '+ time in the code of opentabs on this route: hub, frames, call tables, host, zod, handler',
        p50('ours') - p50('floor-d') - (p50('instant') - p50('plain')),
      ),
      makeHopRow('= time of a call that echoes a text through a page', p50('ours')),
    ];
  } finally {
    await instantServer.close();
  }
}
