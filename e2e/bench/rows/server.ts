import type { Bed } from '../bench-fixture.ts';
import { type GoServer, startServer } from '../go.ts';
import { atMost, formatSummary, type Row } from '../row.ts';
import { inTurns } from '../samples.ts';

/** instantServer starts opentabs' own HTTP and MCP server before a bridge that answers at once: the target "instant". */
export async function instantServer(bed: Bed): Promise<GoServer> {
  const { stack } = await bed.live();
  const server = await startServer('instant', '-state', stack.home, '-token', stack.token);
  await bed.go.connect('instant', `http://127.0.0.1:${server.port}/mcp`, stack.clientToken);
  return server;
}

/** server compares a tools/call of an instant tool with a plain JSON echo. Each server is a separate process. */
export async function server(bed: Bed): Promise<Row[]> {
  const instant = await instantServer(bed);
  try {
    const run = (target: string) => () =>
      bed.calls({ target, tool: 'bench__echo', args: { text: 'x'.repeat(188) }, calls: 2000 });
    await run('plain')();
    await run('instant')();
    const seen = await inTurns(9, { floor: run('plain'), ours: run('instant') });
    const [f, o] = [seen.get('floor'), seen.get('ours')];
    if (!f || !o) throw new Error('nothing was measured');
    return [
      {
        id: 'server',
        what: 'tool that needs no page over HTTP, p50, against a plain JSON echo',
        ours: formatSummary(o),
        floor: formatSummary(f),
        value: o.p50 / f.p50,
        bar: atMost(1.5, 'x'),
      },
    ];
  } finally {
    await instant.close();
  }
}
