import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../harness/process.ts';
import { type BenchRow, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

/** runGoBenchmarks runs each Go benchmark three times, and returns the median of each metric. */
async function runGoBenchmarks(pattern: string, packageFolder: string): Promise<Map<string, Map<string, number>>> {
  const args = ['test', '-run', '^$', '-bench', pattern, '-benchmem', '-count', '3', packageFolder];
  const { stdout } = await promisify(execFile)('go', args, { cwd: repositoryRoot });
  const valuesByName = new Map<string, Map<string, number[]>>();
  for (const outputLine of stdout.split('\n')) {
    const [name, , ...valuesAndUnits] = outputLine.trim().split(/\s+/);
    if (!name?.startsWith('Benchmark')) continue;
    const benchMetrics = valuesByName.get(name.replace(/-\d+$/, '')) ?? new Map<string, number[]>();
    valuesByName.set(name.replace(/-\d+$/, ''), benchMetrics);
    for (let i = 0; i + 1 < valuesAndUnits.length; i += 2) {
      const unit = valuesAndUnits[i + 1] ?? '';
      benchMetrics.set(unit, [...(benchMetrics.get(unit) ?? []), Number(valuesAndUnits[i])]);
    }
  }
  return new Map(
    [...valuesByName].map(([name, benchMetrics]) => [
      name,
      new Map([...benchMetrics].map(([unit, values]) => [unit, computeMedian(values)])),
    ]),
  );
}

export async function measureDispatch(): Promise<BenchRow[]> {
  const metricsByName = await runGoBenchmarks('^Benchmark(ProgressReset|Report|Call)$', './dispatch');
  const metricOf = (name: string, unit: string) => metricsByName.get(name)?.get(unit) ?? Number.NaN;
  const resetBenchmark = 'BenchmarkProgressReset/serial';
  const allocCount = metricOf(resetBenchmark, 'allocs/op');
  const formatMetrics = (name: string) => `${metricOf(name, 'ns/op')} ns, ${metricOf(name, 'allocs/op')} allocs`;
  return [
    {
      id: 'dispatch',
      what: 'time in which a report resets the idle timer of a call, with 10,000 running calls',
      ours: formatMetrics(resetBenchmark),
      value: metricOf(resetBenchmark, 'ns/op'),
      threshold: makeUpperThreshold(100, 'ns'),
      ...(allocCount === 0 ? {} : { broken: `a reset makes ${allocCount} allocations; 0 are allowed` }),
    },
    {
      id: 'dispatch',
      what: 'time in which package dispatch handles one report',
      ours: formatMetrics('BenchmarkReport'),
    },
    {
      id: 'dispatch',
      what: 'time in which package dispatch starts and ends a call',
      ours: formatMetrics('BenchmarkCall'),
    },
  ];
}

export async function measureHub(): Promise<BenchRow[]> {
  const metricsByName = await runGoBenchmarks('^BenchmarkEcho$/^200$', './wsbridge');
  const benchMetrics = metricsByName.get('BenchmarkEcho/200');
  const formatMicroseconds = (unit: string) => `${((benchMetrics?.get(unit) ?? Number.NaN) / 1000).toFixed(1)} us`;
  return [
    {
      id: 'hub',
      what: 'time of a call through the WebSocket hub, 200 B, p50; floor: echo over the WebSocket library alone',
      ours: formatMicroseconds('hub-p50-ns'),
      floor: formatMicroseconds('floor-p50-ns'),
      value: benchMetrics?.get('ratio') ?? Number.NaN,
    },
  ];
}

/** measureSearch measures how long a tools_search request over HTTP takes, compared with an MCP ping. */
export async function measureSearch(): Promise<BenchRow[]> {
  const benchMetrics = (await runGoBenchmarks('^BenchmarkGatewaySearch$', './mcpserver')).get('BenchmarkGatewaySearch');
  const metricOf = (unit: string) => (benchMetrics?.get(unit) ?? Number.NaN) / 1e6;
  const describeBenchmark = (name: string) =>
    `p50 ${metricOf(`${name}-p50-ns`).toFixed(2)} ms, p95 ${metricOf(`${name}-p95-ns`).toFixed(2)} ms`;
  return [
    {
      id: 'search',
      what: 'tools_search over HTTP in 2,449 tools of 120 plugins, p50; floor: a ping',
      ours: describeBenchmark('search'),
      floor: describeBenchmark('floor'),
      value: metricOf('search-p50-ns'),
      threshold: makeUpperThreshold(5, 'ms'),
    },
  ];
}
