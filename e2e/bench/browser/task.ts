/** Defines the ten-step task of the benchmark, in which a simulated agent orders a lamp in a web shop. */

import { pause } from '../../harness/wait.ts';
import type { Agent, Field, ToolCall } from './agent.ts';
import type { BenchSite } from './pages.ts';
import { makeOrderNumber, type ShopStep, shopSteps } from './shop.ts';

export interface TaskResult {
  readonly durationMs: number;
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly doneSteps: readonly ShopStep[];
  readonly failure: string;
}

const MaxSnapshots = 5;
const SnapshotPauseMs = 300;

/** ShoppingAgent takes a snapshot only if no earlier tool result contains the needed ref. */
class ShoppingAgent {
  readonly #agent: Agent;
  /** #knownAnswers are the tool results about the current document, the most recent first. */
  #knownAnswers: string[] = [];

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  async open(url: string): Promise<void> {
    await this.#openOtherDocument(this.#agent.serverTools.open(url));
  }

  async callTools(...calls: readonly ToolCall[]): Promise<void> {
    for (const call of calls) this.#knownAnswers.unshift(await this.#agent.call(call));
  }

  /** #openOtherDocument drops the results of earlier tools, because refs are invalid in another document. */
  async #openOtherDocument(call: ToolCall): Promise<void> {
    const answer = await this.#agent.call(call);
    this.#knownAnswers = [answer];
  }

  async follow(words: string): Promise<void> {
    await this.#openOtherDocument(this.#agent.serverTools.click(await this.find(words)));
  }

  async click(words: string): Promise<void> {
    await this.callTools(this.#agent.serverTools.click(await this.find(words)));
  }

  find(words: string): Promise<string> {
    return this.#searchSnapshots(`an element ${words}`, (answer) => this.#agent.serverTools.refIn(answer, words));
  }

  async waitForText(text: string): Promise<void> {
    await this.#searchSnapshots(`the text ${text}`, (answer) => (answer.includes(text) ? text : undefined));
  }

  async #searchSnapshots(searchedName: string, search: (answer: string) => string | undefined): Promise<string> {
    for (let snapshotCount = 0; snapshotCount <= MaxSnapshots; snapshotCount++) {
      if (snapshotCount > 1) await pause(SnapshotPauseMs);
      if (snapshotCount > 0) await this.callTools(this.#agent.serverTools.snapshot());
      for (const answer of this.#knownAnswers) {
        const found = search(answer);
        if (found !== undefined) return found;
      }
    }
    throw new Error(`${this.#agent.name} did not find ${searchedName}`);
  }

  async field(label: string, kind: Field['kind'], value: string): Promise<Field> {
    return { label, kind, value, ref: await this.find(label) };
  }
}

export async function runTask(agent: Agent, site: BenchSite, run: string, file: string): Promise<TaskResult> {
  const { serverTools } = agent;
  const shopper = new ShoppingAgent(agent);
  agent.resetUsage();
  const beganMs = performance.now();
  let failure = '';
  try {
    await shopper.open(`${site.origin}/shop?run=${run}`);
    await shopper.callTools(...serverTools.submit(await shopper.find('"Search products"'), 'lamp'));
    await shopper.waitForText('5 products found');
    await shopper.follow('Open Wall lamp Alan');
    await shopper.click('"Brass"');
    await shopper.waitForText('149 EUR');
    await shopper.click('"Add to cart"');
    await shopper.waitForText('1 lamp is in your cart');
    await shopper.follow('"Checkout"');
    const formFields = [
      await shopper.field('Full name', 'textbox', 'Ada Lovelace'),
      await shopper.field('Street and number', 'textbox', 'Main Street 1'),
      await shopper.field('City', 'textbox', 'London'),
      await shopper.field('Country', 'combobox', 'Norway'),
      await shopper.field('Wrap as a gift', 'checkbox', 'true'),
    ];
    await shopper.callTools(serverTools.fill(formFields));
    await shopper.callTools(...serverTools.upload(await shopper.find('Engraving picture'), file));
    await shopper.waitForText('was added');
    await shopper.click('"Edit quantity"');
    await shopper.callTools(serverTools.type(await shopper.find('Quantity of Wall lamp Alan'), '3'));
    await shopper.click('"Save quantity"');
    await shopper.waitForText('447 EUR');
    await shopper.follow('"Place order"');
    await shopper.waitForText(makeOrderNumber(run));
    site.reports.push(`${run} number`);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const { calls, tokensIn, tokensOut } = agent.usage;
  const ms = performance.now() - beganMs;
  const done = shopSteps.filter((step) => site.reports.includes(`${run} ${step}`));
  return { durationMs: ms, calls, tokensIn, tokensOut, doneSteps: done, failure };
}
