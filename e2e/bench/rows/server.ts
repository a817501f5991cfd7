import type { BenchFixture } from '../bench-fixture.ts';
import { type GoServer, startServer } from '../go.ts';
import { type BenchRow, formatSummary, makeUpperThreshold } from '../row.ts';
import { measureAlternately } from '../samples.ts';

/** Commands to the Go client of the benchmark select the server of startInstantServer with the target "instant". */
export async function startInstantServer(fixture: BenchFixture): Promise<GoServer> {
  const { stack } = await fixture.getLiveStack();
  const server = await startServer('instant', '-state', stack.homeFolder, '-token', stack.token);
  await fixture.goClient.connect('instant', `http://127.0.0.1:${server.port}/mcp`, stack.clientToken);
  return server;
}

/** measureServer compares an MCP call of a tool that returns at once with a plain JSON echo over HTTP. */
export async function measureServer(fixture: BenchFixture): Promise<BenchRow[]> {
  const instantServer = await startInstantServer(fixture);
  try {
    const measureVariant = (target: string) => () =>
      fixture.measureCalls({ target, tool: 'bench__echo', args: { text: 'x'.repeat(188) }, calls: 2000 });
    await measureVariant('plain')();
    await measureVariant('instant')();
    const variantSummaries = await measureAlternately(9, {
      floor: measureVariant('plain'),
      ours: measureVariant('instant'),
    });
    const [baselineSummary, opentabsSummary] = [variantSummaries.get('floor'), variantSummaries.get('ours')];
    if (!baselineSummary || !opentabsSummary) throw new Error('nothing was measured');
    return [
      {
        id: 'server',
        what: 'time of a call over HTTP to a tool that needs no page, p50; floor: a plain JSON echo',
        ours: formatSummary(opentabsSummary),
        floor: formatSummary(baselineSummary),
        value: opentabsSummary.p50 / baselineSummary.p50,
        threshold: makeUpperThreshold(1.3, 'x'),
      },
    ];
  } finally {
    await instantServer.close();
  }
}
