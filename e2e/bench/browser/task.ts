/** Defines the ten-step task of the benchmark, in which a simulated agent orders a lamp in a web shop. */

import { pause } from '../../harness/wait.ts';
import type { Agent, FormField, ToolCall } from './agent.ts';
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
    const toolAnswer = await this.#agent.call(call);
    this.#knownAnswers = [toolAnswer];
  }

  async followLink(linkName: string): Promise<void> {
    await this.#openOtherDocument(this.#agent.serverTools.click(await this.findRef(linkName)));
  }

  async click(linkName: string): Promise<void> {
    await this.callTools(this.#agent.serverTools.click(await this.findRef(linkName)));
  }

  findRef(linkName: string): Promise<string> {
    return this.#searchSnapshots(`an element ${linkName}`, (toolAnswer) =>
      this.#agent.serverTools.findRef(toolAnswer, linkName),
    );
  }

  async waitForText(awaitedText: string): Promise<void> {
    await this.#searchSnapshots(`the text ${awaitedText}`, (toolAnswer) =>
      toolAnswer.includes(awaitedText) ? awaitedText : undefined,
    );
  }

  async #searchSnapshots(
    searchedName: string,
    findInSnapshot: (toolAnswer: string) => string | undefined,
  ): Promise<string> {
    for (let snapshotCount = 0; snapshotCount <= MaxSnapshots; snapshotCount++) {
      if (snapshotCount > 1) await pause(SnapshotPauseMs);
      if (snapshotCount > 0) await this.callTools(this.#agent.serverTools.snapshot());
      for (const toolAnswer of this.#knownAnswers) {
        const foundValue = findInSnapshot(toolAnswer);
        if (foundValue !== undefined) return foundValue;
      }
    }
    throw new Error(`${this.#agent.name} did not find ${searchedName}`);
  }

  async makeFormField(label: string, kind: FormField['kind'], value: string): Promise<FormField> {
    return { label, kind, value, ref: await this.findRef(label) };
  }
}

export async function runTask(agent: Agent, site: BenchSite, runName: string, file: string): Promise<TaskResult> {
  const { serverTools } = agent;
  const shoppingAgent = new ShoppingAgent(agent);
  agent.resetUsage();
  const beganMs = performance.now();
  let failure = '';
  try {
    await shoppingAgent.open(`${site.origin}/shop?run=${runName}`);
    await shoppingAgent.callTools(...serverTools.submit(await shoppingAgent.findRef('"Search products"'), 'lamp'));
    await shoppingAgent.waitForText('5 products found');
    await shoppingAgent.followLink('Open Wall lamp Alan');
    await shoppingAgent.click('"Brass"');
    await shoppingAgent.waitForText('149 EUR');
    await shoppingAgent.click('"Add to cart"');
    await shoppingAgent.waitForText('1 lamp is in your cart');
    await shoppingAgent.followLink('"Checkout"');
    const formFields = [
      await shoppingAgent.makeFormField('Full name', 'textbox', 'Ada Lovelace'),
      await shoppingAgent.makeFormField('Street and number', 'textbox', 'Main Street 1'),
      await shoppingAgent.makeFormField('City', 'textbox', 'London'),
      await shoppingAgent.makeFormField('Country', 'combobox', 'Norway'),
      await shoppingAgent.makeFormField('Wrap as a gift', 'checkbox', 'true'),
    ];
    await shoppingAgent.callTools(serverTools.fill(formFields));
    await shoppingAgent.callTools(...serverTools.upload(await shoppingAgent.findRef('Engraving picture'), file));
    await shoppingAgent.waitForText('was added');
    await shoppingAgent.click('"Edit quantity"');
    await shoppingAgent.callTools(serverTools.type(await shoppingAgent.findRef('Quantity of Wall lamp Alan'), '3'));
    await shoppingAgent.click('"Save quantity"');
    await shoppingAgent.waitForText('447 EUR');
    await shoppingAgent.followLink('"Place order"');
    await shoppingAgent.waitForText(makeOrderNumber(runName));
    site.reports.push(`${runName} number`);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const { calls, tokensIn, tokensOut } = agent.usage;
  const ms = performance.now() - beganMs;
  const completedSteps = shopSteps.filter((shopStep) => site.reports.includes(`${runName} ${shopStep}`));
  return { durationMs: ms, calls, tokensIn, tokensOut, doneSteps: completedSteps, failure };
}
