/** The programs of the rows about browser tools: opentabs, and the peers whose packages are there. */
import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs } from '../row.ts';
import { measureInTurns, type Summary } from '../samples.ts';
import { Agent } from './agent.ts';
import { type OurBrowser, startOurBrowser } from './our-browser.ts';
import { type BenchSite, startBenchSite } from './pages.ts';
import { type Peer, startChromeDevtools, startPlaywright } from './peers.ts';
import { openTabsWords } from './words.ts';

/** BrowserLab has opentabs with the debugger, the peers, and the site of the pages. */
export interface BrowserLab {
  readonly site: BenchSite;
  readonly our: OurBrowser;
  readonly agent: Agent;
  /** playwright and devtools are undefined if their packages are not in the folder PEERS. */
  readonly playwright: Agent | undefined;
  readonly devtools: Agent | undefined;
  /** agents are the agent of opentabs and those of the peers. */
  readonly agents: readonly Agent[];
}

/** startBrowserLab starts the programs. The fixture closes them. */
export async function startBrowserLab(fixture: BenchFixture): Promise<BrowserLab> {
  const site = await startBenchSite();
  fixture.onClose(() => site.close());
  const our = await startOurBrowser('--debugger');
  fixture.onClose(() => our.close());
  const startPeer = async (start: () => Promise<Peer | undefined>): Promise<Agent | undefined> => {
    const peer = await start();
    if (peer) fixture.onClose(() => peer.close());
    return peer?.agent;
  };
  const playwright = await startPeer(startPlaywright);
  const devtools = await startPeer(startChromeDevtools);
  const agent = new Agent('opentabs', our.client.sdk, openTabsWords);
  const agents = [agent, playwright, devtools].filter((each) => each !== undefined);
  return { site, our, agent, playwright, devtools, agents };
}

/** openEverywhere opens an address in a new tab of opentabs, and in the page of each peer. It returns the new tab. */
export async function openEverywhere({ site, our, agents }: BrowserLab, path: string): Promise<number> {
  const url = `${site.origin}${path}`;
  const tabId = await our.openTab(url);
  for (const agent of agents.slice(1)) await agent.call(agent.words.open(url));
  return tabId;
}

/** Measurements are the times of the same act of each program, by its name. */
export type Measurements = ReadonlyMap<string, Summary>;

/** measureAgents measures the same act of all programs in turns. others are further measurements, such as a floor. */
export async function measureAgents(
  lab: BrowserLab,
  rounds: number,
  measure: (agent: Agent) => Promise<readonly number[]>,
  others: Readonly<Record<string, () => Promise<readonly number[]>>> = {},
): Promise<Measurements> {
  const measurements: Record<string, () => Promise<readonly number[]>> = { ...others };
  for (const agent of lab.agents) measurements[agent.name] = () => measure(agent);
  return await measureInTurns(rounds, measurements);
}

/** repeat measures one act several times. */
export async function repeat(times: number, act: () => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < times; i++) samples.push(await act());
  return samples;
}

/** describePeers returns the p50 of each program but opentabs. */
export function describePeers(measured: Measurements): string {
  const texts: string[] = [];
  for (const [name, { p50 }] of measured) if (name !== 'opentabs') texts.push(`${name} ${formatMs(p50)}`);
  return texts.join(', ');
}

/** p50Of returns the p50 of a program, or undefined if the program was not measured. */
export function p50Of(measured: Measurements, agent: Agent | undefined): number | undefined {
  return agent && measured.get(agent.name)?.p50;
}
