/**
 * Starts the MCP servers whose browser tools the benchmark compares: opentabs, Playwright MCP and chrome-devtools-mcp.
 */
import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs } from '../row.ts';
import { measureAlternately, type SampleSummary } from '../samples.ts';
import { Agent } from './agent.ts';
import { type OpentabsBrowser, startOpentabsBrowser } from './our-browser.ts';
import { type BenchSite, startBenchSite } from './pages.ts';
import { type PeerServer, startChromeDevtools, startPlaywright } from './peers.ts';
import { opentabsTools } from './words.ts';

export interface BenchBrowsers {
  readonly site: BenchSite;
  readonly opentabsBrowser: OpentabsBrowser;
  readonly agent: Agent;
  /**
   * The fields `playwright` and `devtools` are undefined if the folder in the environment variable PEERS lacks their
   * npm packages.
   */
  readonly playwright: Agent | undefined;
  readonly devtools: Agent | undefined;
  readonly benchAgents: readonly Agent[];
}

export async function startBenchBrowsers(fixture: BenchFixture): Promise<BenchBrowsers> {
  const site = await startBenchSite();
  fixture.onClose(() => site.close());
  const opentabsBrowser = await startOpentabsBrowser('--debugger');
  fixture.onClose(() => opentabsBrowser.close());
  const startPeerAgent = async (startAgent: () => Promise<PeerServer | undefined>): Promise<Agent | undefined> => {
    const peerServer = await startAgent();
    if (peerServer) fixture.onClose(() => peerServer.close());
    return peerServer?.agent;
  };
  const playwrightAgent = await startPeerAgent(startPlaywright);
  const devtools = await startPeerAgent(startChromeDevtools);
  const agent = new Agent('opentabs', opentabsBrowser.client.sdk, opentabsTools);
  const benchAgents = [agent, playwrightAgent, devtools].filter((benchAgent) => benchAgent !== undefined);
  return { site, opentabsBrowser, agent, playwright: playwrightAgent, devtools, benchAgents };
}

export async function openInAllBrowsers(
  { site, opentabsBrowser, benchAgents }: BenchBrowsers,
  path: string,
): Promise<number> {
  const url = `${site.origin}${path}`;
  const tabId = await opentabsBrowser.openTab(url);
  for (const agent of benchAgents.slice(1)) await agent.call(agent.serverTools.open(url));
  return tabId;
}

export type Measurements = ReadonlyMap<string, SampleSummary>;

/**
 * measureAgents alternates between the MCP servers; `otherMeasurements` contains further measurements, such as a lower
 * bound.
 */
export async function measureAgents(
  benchBrowsers: BenchBrowsers,
  roundCount: number,
  measureAgent: (agent: Agent) => Promise<readonly number[]>,
  otherMeasurements: Readonly<Record<string, () => Promise<readonly number[]>>> = {},
): Promise<Measurements> {
  const measurements: Record<string, () => Promise<readonly number[]>> = { ...otherMeasurements };
  for (const agent of benchBrowsers.benchAgents) measurements[agent.name] = () => measureAgent(agent);
  return await measureAlternately(roundCount, measurements);
}

export async function repeatMeasurement(
  repeatCount: number,
  measuredCall: () => Promise<number>,
): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < repeatCount; i++) samples.push(await measuredCall());
  return samples;
}

export function formatPeerMedians(agentMeasurements: Measurements): string {
  const toolTexts: string[] = [];
  for (const [name, { p50 }] of agentMeasurements) if (name !== 'opentabs') toolTexts.push(`${name} ${formatMs(p50)}`);
  return toolTexts.join(', ');
}

export function findMedian(agentMeasurements: Measurements, agent: Agent | undefined): number | undefined {
  return agent && agentMeasurements.get(agent.name)?.p50;
}
