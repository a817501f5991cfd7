import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { freePort } from '../../harness/chromium.ts';
import { binary } from '../../harness/process.ts';
import type { Bed } from '../bench-fixture.ts';
import { program, Started } from '../go.ts';
import { atMost, formatTimes, mb, type Row } from '../row.ts';
import { median } from '../samples.ts';

/** starts is how many servers are started for one number. */
export const starts = 15;
/** settleMs is longer than the 10 s between two checks of the server's own memory. */
export const settleMs = 11_000;

/** clientTokenFile has the token of the MCP client that lists the tools of a server of this home. */
export function clientTokenFile(home: string): string {
  return join(home, 'bench-client-token');
}

/** serve starts opentabs serve in home, waits until it is up, lists its tools over MCP if list is set, and ends it. */
export async function serve(
  bed: Bed,
  home: string,
  { settle = 0, list = false } = {},
): Promise<z.infer<typeof Started>> {
  const port = await freePort();
  const env = [`OPENTABS_HOME=${home}`, `OPENTABS_PORT=${port}`];
  const command = [binary, 'serve'];
  const tokenFile = list ? clientTokenFile(home) : '';
  return bed.go.carryOut({ do: 'start', command, env, port, settleMs: settle, tokenFile }, Started);
}

/** serveFloor is the same for a plain Go HTTP server. */
export async function serveFloor(bed: Bed): Promise<z.infer<typeof Started>> {
  const port = await freePort();
  return bed.go.carryOut({ do: 'start', command: [program, 'floor', '-port', String(port)], port }, Started);
}

/** start is the time from exec to a port that accepts. */
export async function start(bed: Bed): Promise<Row[]> {
  const home = join(bed.home, 'start');
  const accepts: number[] = [];
  const health: number[] = [];
  const floor: number[] = [];
  const bareHealth: number[] = [];
  await serve(bed, home);
  for (let i = 0; i < starts; i++) {
    const bare = await serveFloor(bed);
    floor.push(bare.acceptsMs);
    bareHealth.push(bare.healthMs);
    const up = await serve(bed, home);
    accepts.push(up.acceptsMs);
    health.push(up.healthMs);
  }
  return [
    {
      id: 'start',
      what: 'cold start: exec to a port that accepts, p50',
      ours: formatTimes(accepts),
      floor: formatTimes(floor),
      value: median(accepts) / median(floor),
      bar: atMost(1.2, 'x'),
      note: `the floor is a Go program of ${mb(statSync(program).size)} with a plain HTTP server`,
    },
    {
      id: 'start',
      what: 'cold start: exec to the answer of /healthz, p50',
      ours: formatTimes(health),
      floor: formatTimes(bareHealth),
      value: median(health) / median(bareHealth),
      bar: atMost(1.5, 'x'),
    },
  ];
}

/** Memory is the resident memory of a process, and the part of it that is not backed by a file. */
export interface Memory {
  readonly rssBytes: number;
  readonly anonBytes: number;
}

/** memory returns a line about memory that was measured settleMs after an event. */
export function memory(id: string, what: string, s: Memory, limitMb: number): Row {
  return {
    id,
    what: `${what}, ${settleMs / 1000} s later`,
    ours: `${mb(s.rssBytes)} (${mb(s.anonBytes)} without files)`,
    value: s.rssBytes / 1e6,
    bar: atMost(limitMb, 'MB'),
  };
}

/** size measures the program on disk and, idle, in memory. */
export async function size(bed: Bed): Promise<Row[]> {
  const bytes = statSync(binary).size;
  return [
    {
      id: 'size',
      what: 'the program, as make build makes it',
      ours: mb(bytes),
      value: bytes / 1e6,
      bar: atMost(40, 'MB'),
    },
    memory('size', 'resident memory, idle', await serve(bed, join(bed.home, 'idle'), { settle: settleMs }), 25),
  ];
}
