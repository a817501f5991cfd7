import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../harness/process.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { type BenchRow, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

/** By default, three repetitions of 1 s are measured. */
export const defaultBenchFlags: readonly string[] = ['-count=3'];

/** ReadMetric returns the median of one metric of a Go benchmark, such as "ns/op". */
type ReadMetric = (unit: string) => number;

/**
 * runGoBenchmark runs the Go benchmark "Name" or "Name/sub". An unknown benchmark is an error, because `go test`
 * succeeds without it.
 */
async function runGoBenchmark(name: string, packageFolder: string, benchFlags: readonly string[]): Promise<ReadMetric> {
  const pattern = name.replaceAll(/[^/]+/g, '^$&$');
  const args = ['test', '-run', '^$', '-bench', pattern, '-benchmem', ...benchFlags, packageFolder];
  const { stdout } = await promisify(execFile)('go', args, { cwd: repositoryRoot });
  const valuesByUnit = new Map<string, number[]>();
  for (const outputLine of stdout.split('\n')) {
    const [benchmarkName, , ...valuesAndUnits] = outputLine.trim().split(/\s+/);
    if (benchmarkName?.replace(/-\d+$/, '') !== name) continue;
    for (let i = 0; i + 1 < valuesAndUnits.length; i += 2) {
      const unit = valuesAndUnits[i + 1] ?? '';
      valuesByUnit.set(unit, [...(valuesByUnit.get(unit) ?? []), Number(valuesAndUnits[i])]);
    }
  }
  if (valuesByUnit.size === 0) throw new Error(`${packageFolder} has no Go benchmark ${name}`);
  return (unit) => {
    const values = valuesByUnit.get(unit);
    if (!values) throw new Error(`the Go benchmark ${name} in ${packageFolder} reports no ${unit}`);
    return computeMedian(values);
  };
}

const maxCallAllocs = 16;

export async function measureDispatch(
  _fixture?: BenchFixture,
  benchFlags: readonly string[] = defaultBenchFlags,
): Promise<BenchRow[]> {
  const readResetMetric = await runGoBenchmark('BenchmarkIdleLimitRestart/serial', './dispatch/clock', benchFlags);
  const readReportMetric = await runGoBenchmark('BenchmarkReport', './dispatch', benchFlags);
  const readCallMetric = await runGoBenchmark('BenchmarkCall', './dispatch', benchFlags);
  const allocCount = readResetMetric('allocs/op');
  const callAllocCount = readCallMetric('allocs/op');
  const formatMetrics = (readMetric: ReadMetric) => `${readMetric('ns/op')} ns, ${readMetric('allocs/op')} allocs`;
  return [
    {
      id: 'dispatch',
      what: 'time in which a report resets the idle timer of a call, with 10,000 running calls',
      ours: formatMetrics(readResetMetric),
      value: readResetMetric('ns/op'),
      threshold: makeUpperThreshold(100, 'ns'),
      ...(allocCount === 0 ? {} : { broken: `a reset makes ${allocCount} allocations; 0 are allowed` }),
    },
    {
      id: 'dispatch',
      what: 'time in which package dispatch handles one report',
      ours: formatMetrics(readReportMetric),
    },
    {
      id: 'dispatch',
      what: 'time in which package dispatch starts and ends a call',
      ours: formatMetrics(readCallMetric),
      value: readCallMetric('ns/op'),
      threshold: makeUpperThreshold(3000, 'ns'),
      ...(callAllocCount <= maxCallAllocs
        ? {}
        : { broken: `a call makes ${callAllocCount} allocations; ${maxCallAllocs} are allowed` }),
    },
  ];
}

export async function measureHubCalls(
  _fixture?: BenchFixture,
  benchFlags: readonly string[] = defaultBenchFlags,
): Promise<BenchRow[]> {
  const readEchoMetric = await runGoBenchmark('BenchmarkEcho/200', './wsbridge', benchFlags);
  const formatMicroseconds = (unit: string) => `${(readEchoMetric(unit) / 1000).toFixed(1)} us`;
  return [
    {
      id: 'hub',
      what: 'time of a call through the WebSocket hub, 200 B, p50; floor: echo over the WebSocket library alone',
      ours: formatMicroseconds('hub-p50-ns'),
      floor: formatMicroseconds('floor-p50-ns'),
      value: readEchoMetric('ratio'),
      threshold: makeUpperThreshold(1.5, 'x'),
    },
  ];
}

/** measureSearch measures how long a tools_search request over HTTP takes, compared with an MCP ping. */
export async function measureSearch(
  _fixture?: BenchFixture,
  benchFlags: readonly string[] = defaultBenchFlags,
): Promise<BenchRow[]> {
  const readSearchMetric = await runGoBenchmark('BenchmarkGatewaySearch', './mcpserver', benchFlags);
  const readSearchMs = (unit: string) => readSearchMetric(unit) / 1e6;
  const describeBenchmark = (name: string) =>
    `p50 ${readSearchMs(`${name}-p50-ns`).toFixed(2)} ms, p95 ${readSearchMs(`${name}-p95-ns`).toFixed(2)} ms`;
  return [
    {
      id: 'search',
      what: 'tools_search over HTTP in 2,449 tools of 120 plugins, p50; floor: a ping',
      ours: describeBenchmark('search'),
      floor: describeBenchmark('floor'),
      value: readSearchMs('search-p50-ns'),
      threshold: makeUpperThreshold(5, 'ms'),
    },
  ];
}
