import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { findFreePort } from '../../harness/chromium.ts';
import { opentabsBinary } from '../../harness/process.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { benchProgram, StartAnswer } from '../go.ts';
import { type BenchRow, formatMegabytes, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

export const startCount = 15;
/** settleDelayMs exceeds the 10 s between two of the daemon's memory checks, so that at least one check runs. */
export const settleDelayMs = 11_000;

export function makeClientTokenPath(homeFolder: string): string {
  return join(homeFolder, 'bench-client-token');
}

/** If `list` is true, the measured time includes an MCP client's request for the list of tools. */
export async function measureServeStart(
  fixture: BenchFixture,
  homeFolder: string,
  { settle: settleMs = 0, list: listTools = false } = {},
): Promise<z.infer<typeof StartAnswer>> {
  const port = await findFreePort();
  const env = [`OPENTABS_HOME=${homeFolder}`, `OPENTABS_PORT=${port}`];
  const command = [opentabsBinary, 'serve'];
  const tokenFile = listTools ? makeClientTokenPath(homeFolder) : '';
  return fixture.goClient.sendCommand({ do: 'start', command, env, port, settleMs, tokenFile }, StartAnswer);
}

export async function measureBaselineStart(fixture: BenchFixture): Promise<z.infer<typeof StartAnswer>> {
  const port = await findFreePort();
  return fixture.goClient.sendCommand(
    { do: 'start', command: [benchProgram, 'floor', '-port', String(port)], port },
    StartAnswer,
  );
}

/** measureStart measures the time from the exec of `opentabs serve` to the first accepted connection. */
export async function measureStart(fixture: BenchFixture): Promise<BenchRow[]> {
  const homeFolder = join(fixture.homeFolder, 'start');
  const acceptTimes: number[] = [];
  const healthTimes: number[] = [];
  const baselineAcceptTimes: number[] = [];
  const baselineHealthTimes: number[] = [];
  await measureServeStart(fixture, homeFolder);
  for (let i = 0; i < startCount; i++) {
    const baselineStart = await measureBaselineStart(fixture);
    baselineAcceptTimes.push(baselineStart.acceptsMs);
    baselineHealthTimes.push(baselineStart.healthMs);
    const serveStart = await measureServeStart(fixture, homeFolder);
    acceptTimes.push(serveStart.acceptsMs);
    healthTimes.push(serveStart.healthMs);
  }
  return [
    {
      id: 'start',
      what: "cold start: time from the server's exec to an open port, p50",
      ours: formatTimes(acceptTimes),
      floor: formatTimes(baselineAcceptTimes),
      value: computeMedian(acceptTimes) / computeMedian(baselineAcceptTimes),
      threshold: makeUpperThreshold(1.2, 'x'),
      note: `the floor is a Go program of ${formatMegabytes(statSync(benchProgram).size)} with a plain HTTP server, which initializes the packages of the daemon`,
    },
    {
      id: 'start',
      what: "cold start: time from the server's exec to an answer of /healthz, p50",
      ours: formatTimes(healthTimes),
      floor: formatTimes(baselineHealthTimes),
      value: computeMedian(healthTimes) / computeMedian(baselineHealthTimes),
      threshold: makeUpperThreshold(1.5, 'x'),
    },
  ];
}

/**
 * MemoryUsage is the resident memory of a process, in bytes: in total (rssBytes) and without file-backed pages
 * (anonBytes).
 */
export interface MemoryUsage {
  readonly rssBytes: number;
  readonly anonBytes: number;
}

export function makeMemoryRow(id: string, description: string, memoryUsage: MemoryUsage, limitMb: number): BenchRow {
  return {
    id,
    what: `${description}, ${settleDelayMs / 1000} s later`,
    ours: `${formatMegabytes(memoryUsage.rssBytes)} (${formatMegabytes(memoryUsage.anonBytes)} without files)`,
    value: memoryUsage.rssBytes / 1e6,
    threshold: makeUpperThreshold(limitMb, 'MB'),
  };
}

export async function measureSize(fixture: BenchFixture): Promise<BenchRow[]> {
  const bytes = statSync(opentabsBinary).size;
  return [
    {
      id: 'size',
      what: 'size of the program that make build builds',
      ours: formatMegabytes(bytes),
      value: bytes / 1e6,
      threshold: makeUpperThreshold(32, 'MB'),
    },
    makeMemoryRow(
      'size',
      'resident memory of an idle server',
      await measureServeStart(fixture, join(fixture.homeFolder, 'idle'), { settle: settleDelayMs }),
      25,
    ),
  ];
}
