import type * as chromeBase from '../../../chrome.ts';
import type * as chromeDebugger from '../../../chrome-debugger.ts';
import type * as chromePages from '../../../chrome-pages.ts';
import type * as chromeTabs from '../../../chrome-tabs.ts';
import { type Fields, isRecord } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import { Signal } from '../../signal.ts';
import { type Texts, ToolFailure, toolFailure } from '../tool-failure.ts';
import { Attachment, type ChildListener, type ChildTarget, type EventListener } from './attachment.ts';
import { Dialogs } from './dialogs.ts';
import { type Command, endEmulationCommands, type Feature, featureCommands } from './features.ts';
import { PressedButtons } from './pressed-buttons.ts';

export type DebuggerBrowser = typeof chromeDebugger &
  Pick<typeof chromePages, 'watchTabs'> &
  Pick<typeof chromeTabs, 'describeTab'> &
  Pick<typeof chromeBase, 'readSetting' | 'writeSetting' | 'readSessionValue' | 'writeSessionValue'>;

/**
 * In the state "refused", the user has pressed Cancel in Chrome's debugger bar and has not allowed the debugger again.
 */
export type DebuggerState = 'absent' | 'ready' | 'refused';

/** A tool that fails with DebuggerUnavailable has not acted on the page. */
export class DebuggerUnavailable extends ToolFailure {
  constructor(code: 'needs_debugger' | 'debugger_refused', message: string | Texts) {
    super(toolFailure(code, message).error);
  }
}

/** DebuggerSession sends debugger commands to a tab on behalf of one tool. */
export interface DebuggerSession {
  /**
   * The method `send` fails with the code timeout if Chrome has not finished the debugger command after limitMs
   * milliseconds (default 5 s). childId selects a child target, and an empty childId selects the tab.
   */
  send(method: string, params?: Fields, limitMs?: number, childId?: string): Promise<Fields>;
  onEvent(listener: EventListener): () => void;
  /**
   * onChild calls a listener for each cross-site frame and worker of the tab, until the returned function is called.
   * onChild needs the debugger feature "children". A new child target executes the commands that the listener sends
   * synchronously before the target runs any script.
   */
  onChild(listener: ChildListener): () => void;
  /**
   * watchChildren adds a listener like onChild, and resolves when the listener has handled all current child targets.
   */
  watchChildren(listener: ChildListener): Promise<() => void>;
}

/** DebuggerHold keeps the debugger attached to a tab and keeps some debugger features on. */
export interface DebuggerHold {
  readonly session: DebuggerSession;
  /** The field `lost` is a promise that rejects when the debugger is detached from the tab. */
  readonly lost: Promise<never>;
  /** The method `release` turns off the features of the DebuggerHold, and allows the debugger to be detached. */
  release(): Promise<void>;
}

/** If the debugger were detached after each tool, Chrome's debugger bar would appear and disappear repeatedly. */
export const DetachDelayMs = 30_000;
const CommandTimeoutMs = 5000;
const CleanupTimeoutMs = 1000;
const DebuggerRefusedSetting = 'debuggerRefused';

const dismissDialogCommand: Command = ['Page.handleJavaScriptDialog', { accept: false }];

const debuggerRefusedTexts: Texts = {
  forAgent:
    'the user pressed Cancel in the bar of the debugger, so tools may not use it. Do not retry; the user can allow it ' +
    'again in the side panel of opentabs',
  forUser:
    'You pressed Cancel in the bar of the debugger, so tools may not use it. Allow it again in the side panel of opentabs.',
};

export const debuggerRefusedNote =
  'The debugger was not used: the user pressed Cancel in its bar, and can allow it again in the side panel of opentabs.';

/** Debuggers attaches the debugger to tabs, and shares each attached debugger among tools. */
export class Debuggers {
  readonly changed = new Signal();
  /** The field `dialogs` contains the open JavaScript dialogs of all tabs to which the debugger is attached. */
  readonly dialogs: Dialogs;
  readonly #browser: DebuggerBrowser;
  readonly #attachments = new Map<number, Attachment>();
  readonly #pressedButtons: PressedButtons;
  readonly #started: Promise<void>;
  #isRefused = false;

  constructor(browser: DebuggerBrowser) {
    this.#browser = browser;
    this.#pressedButtons = new PressedButtons(browser);
    this.dialogs = new Dialogs({
      isInFront: async (tabId) => (await browser.describeTab(tabId))?.active === true,
      dismiss: (tabId) => awaitWithin(browser.sendToDebugger(tabId, ...dismissDialogCommand), CommandTimeoutMs),
    });
    browser.watchDebugger({
      onEvent: (tabId, method, params, childId) => this.#receive(tabId, method, params, childId),
      onDetach: (tabId, isCancelled) => void this.#handleDetach(tabId, isCancelled),
    });
    this.#started = this.#start();
  }

  get state(): DebuggerState {
    if (!this.#browser.hasDebugger()) return 'absent';
    return this.#isRefused ? 'refused' : 'ready';
  }

  /** The method `allow` must be called only after the user has allowed the debugger again in the side panel. */
  async allow(): Promise<void> {
    await this.#started;
    await this.#browser.writeSetting(DebuggerRefusedSetting, '');
    this.#isRefused = false;
    this.changed.emit();
  }

  /**
   * The method `use` attaches the debugger to a tab, turns on debugger features, and runs the function `work`. `use`
   * fails with DebuggerUnavailable if the debugger cannot be attached.
   */
  async use<T>(
    tabId: number,
    features: readonly Feature[],
    work: (session: DebuggerSession) => Promise<T>,
  ): Promise<T> {
    const hold = await this.hold(tabId, features);
    try {
      return await Promise.race([work(hold.session), hold.lost]);
    } finally {
      await hold.release();
    }
  }

  /**
   * The method `hold` attaches the debugger to a tab and turns features on. The debugger and the features stay on until
   * the caller releases the DebuggerHold or the debugger is detached.
   */
  async hold(tabId: number, features: readonly Feature[]): Promise<DebuggerHold> {
    await this.#started;
    if (this.state === 'absent') throw new DebuggerUnavailable('needs_debugger', debuggerNotGrantedTexts);
    if (this.state === 'refused') throw new DebuggerUnavailable('debugger_refused', debuggerRefusedTexts);
    const attachment = this.#attachments.get(tabId) ?? this.#trackAttachment(tabId);
    attachment.addUser();
    const applied: Feature[] = [];
    let isReleased = false;
    const release = async () => {
      if (isReleased) return;
      isReleased = true;
      for (const feature of applied.reverse())
        await attachment.enqueue(() => this.#turnOffFeature(tabId, attachment, feature));
      attachment.removeUser(DetachDelayMs, () => void attachment.enqueue(() => this.#release(tabId, attachment)));
    };
    try {
      await attachment.enqueue(() => this.#attach(tabId, attachment));
      for (const feature of features) {
        applied.push(feature);
        await attachment.enqueue(() => this.#turnOnFeature(tabId, attachment, feature));
      }
    } catch (error) {
      await release();
      throw error;
    }
    return { session: this.#sessionOf(tabId, attachment), lost: attachment.lost, release };
  }

  /**
   * detachIfUnused detaches the debugger from a tab immediately, unless a tool uses the debugger or the page shows a
   * dialog.
   */
  async detachIfUnused(tabId: number): Promise<void> {
    const attachment = this.#attachments.get(tabId);
    if (attachment) await attachment.enqueue(() => this.#release(tabId, attachment));
  }

  /**
   * #start restores the state of the previous worker: whether the user refused the debugger, and the tabs to which the
   * debugger is attached.
   */
  async #start(): Promise<void> {
    const browser = this.#browser;
    if (!browser.hasDebugger()) return;
    this.#isRefused = (await browser.readSetting(DebuggerRefusedSetting)) === 'yes';
    if (this.#isRefused) this.changed.emit();
    const tabs = await browser.listDebuggedTabs().catch(() => []);
    await this.#pressedButtons.start();
    await Promise.all(tabs.map((tabId) => this.#takeOverDebugger(tabId)));
  }

  /**
   * #takeOverDebugger takes over the debugger of a tab from the previous worker, which may have stopped while a tool
   * was running.
   */
  async #takeOverDebugger(tabId: number): Promise<void> {
    // A dialog that opened while the previous service worker was running blocks the page and all other debugger
    // commands.
    await awaitWithin(this.#browser.sendToDebugger(tabId, ...dismissDialogCommand), CleanupTimeoutMs);
    await this.#releaseButtons(tabId);
    let isAttached = false;
    for (const { off } of Object.values(featureCommands)) {
      if (!off) continue;
      const sent = this.#browser.sendToDebugger(tabId, ...off).then(() => true);
      if ((await awaitWithin(sent, CleanupTimeoutMs)) === true) isAttached = true;
    }
    // If another extension or DevTools uses the tab's debugger, all debugger commands fail.
    if (!isAttached) return;
    for (const command of endEmulationCommands)
      await awaitWithin(this.#browser.sendToDebugger(tabId, ...command), CleanupTimeoutMs);
    const attachment = this.#trackAttachment(tabId);
    attachment.isAttached = true;
    this.#detachLater(tabId, attachment);
  }

  /** #releaseButtons releases mouse buttons that a previous tool pressed in a tab and could not release. */
  async #releaseButtons(tabId: number): Promise<void> {
    const releases = this.#pressedButtons.takeReleases(tabId);
    if (releases.length === 0) return;
    // A background tab receives mouse events only with focus emulation.
    const { on, off } = featureCommands.focus;
    for (const command of [on, ...releases, ...(off ? [off] : [])])
      await awaitWithin(this.#browser.sendToDebugger(tabId, ...command), CleanupTimeoutMs);
  }

  #detachLater(tabId: number, attachment: Attachment): void {
    attachment.addUser();
    attachment.removeUser(DetachDelayMs, () => void attachment.enqueue(() => this.#release(tabId, attachment)));
  }

  #trackAttachment(tabId: number): Attachment {
    const stopWatching = this.#browser.watchTabs((id, event) => {
      if (id !== tabId || event.kind !== 'committed' || isWebPage(event.url)) return;
      // If the tab has navigated to a page that the debugger must not access, such as chrome://settings, detach the
      // debugger.
      attachment.markLost(toolFailure('needs_debugger', `the tab shows a page that ${onlyWebPagesText}`));
      void attachment.enqueue(() => this.#release(tabId, attachment));
    });
    const attachment: Attachment = new Attachment(stopWatching);
    this.#attachments.set(tabId, attachment);
    return attachment;
  }

  async #attach(tabId: number, attachment: Attachment): Promise<void> {
    const tab = await this.#browser.describeTab(tabId);
    if (!tab || tab.problem !== undefined || !isWebPage(tab.url))
      throw new DebuggerUnavailable('needs_debugger', tab?.problem ?? `the tab shows a page that ${onlyWebPagesText}`);
    if (attachment.isLost) throw new DebuggerUnavailable('needs_debugger', 'Chrome has just detached the debugger');
    if (attachment.isAttached) return;
    try {
      await this.#browser.attachDebugger(tabId);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new DebuggerUnavailable('needs_debugger', `Chrome did not attach the debugger: ${message}`);
    }
    attachment.isAttached = true;
    await this.#releaseButtons(tabId);
  }

  async #turnOnFeature(tabId: number, attachment: Attachment, feature: Feature): Promise<void> {
    if (attachment.addFeatureUser(feature) > 1) return;
    const [method, params] = featureCommands[feature].on;
    const sent = this.#browser.sendToDebugger(tabId, method, params).then(() => true);
    if ((await awaitWithin(sent, CommandTimeoutMs)) === undefined)
      throw new DebuggerUnavailable('needs_debugger', `Chrome rejected ${method} of the debugger`);
  }

  async #turnOffFeature(tabId: number, attachment: Attachment, feature: Feature): Promise<void> {
    const { off } = featureCommands[feature];
    if (attachment.removeFeatureUser(feature) > 0 || !attachment.isAttached || !off) return;
    await awaitWithin(this.#browser.sendToDebugger(tabId, ...off), CleanupTimeoutMs);
  }

  async #release(tabId: number, attachment: Attachment): Promise<void> {
    if (attachment.users > 0 && !attachment.isLost) return;
    if (this.dialogs.find(tabId) && !attachment.isLost) {
      this.#detachLater(tabId, attachment);
      return;
    }
    if (attachment.isAttached) {
      attachment.isAttached = false;
      await this.#browser.detachDebugger(tabId).catch(() => undefined);
    }
    // A tool that starts while the debugger is being detached attaches the debugger again.
    if (attachment.users === 0 || attachment.isLost) this.#forget(tabId, attachment);
  }

  #forget(tabId: number, attachment: Attachment): void {
    this.dialogs.forgetTab(tabId);
    attachment.close();
    if (this.#attachments.get(tabId) === attachment) this.#attachments.delete(tabId);
  }

  async #handleDetach(tabId: number, isCancelled: boolean): Promise<void> {
    const attachment = this.#attachments.get(tabId);
    if (attachment) {
      attachment.isAttached = false;
      attachment.markLost(
        isCancelled
          ? toolFailure('debugger_refused', {
              forAgent: `${debuggerRefusedTexts.forAgent}. The tool may have acted`,
              forUser: `${debuggerRefusedTexts.forUser} The tool may have acted.`,
            })
          : toolFailure('needs_debugger', 'Chrome detached the debugger while the tool ran; the tool may have acted'),
      );
      this.#forget(tabId, attachment);
    }
    if (!isCancelled || this.#isRefused) return;
    this.#isRefused = true;
    this.changed.emit();
    await this.#browser.writeSetting(DebuggerRefusedSetting, 'yes');
  }

  #receive(tabId: number, method: string, params: Fields, childId: string): void {
    const attachment = this.#attachments.get(tabId);
    if (!attachment) return;
    this.dialogs.handleEvent(tabId, method, params);
    const { sessionId, targetInfo } = params;
    if (method === 'Target.attachedToTarget' && typeof sessionId === 'string' && isRecord(targetInfo)) {
      const text = (key: string) => String(targetInfo[key] ?? '');
      const child = { id: sessionId, kind: text('type'), targetId: text('targetId'), url: text('url') };
      this.#startChild(tabId, attachment, child);
    } else if (method === 'Target.detachedFromTarget' && typeof sessionId === 'string') {
      attachment.removeChild(sessionId);
    }
    attachment.emitEvent(method, params, childId);
  }

  /**
   * #startChild resumes a new cross-site frame or worker after it has executed the commands that listeners send
   * synchronously.
   */
  #startChild(tabId: number, attachment: Attachment, child: ChildTarget): void {
    const send = (method: string, params: Fields) =>
      // If a child target no longer exists, Chrome rejects all commands for it.
      this.#browser.sendToDebugger(tabId, method, params, child.id).catch(() => undefined);
    attachment.addChild(child);
    // Attach the debugger to the frames and workers inside the child target.
    void send(...featureCommands.children.on);
    void send('Runtime.runIfWaitingForDebugger', {});
  }

  #sessionOf(tabId: number, attachment: Attachment): DebuggerSession {
    return {
      send: async (method, params = {}, limitMs = CommandTimeoutMs, childId = '') => {
        let failure: unknown;
        this.#pressedButtons.record(tabId, method, params);
        const sent = this.#browser.sendToDebugger(tabId, method, params, childId).catch((error: unknown) => {
          failure = error;
          return undefined;
        });
        const answer = await awaitWithin(sent, limitMs);
        if (answer !== undefined) return answer;
        if (failure !== undefined) throw failure;
        throw toolFailure('timeout', `Chrome did not finish ${method} within ${limitMs / 1000} s`);
      },
      onEvent: (listener) => attachment.onEvent(listener),
      onChild: (listener) => attachment.onChild(listener),
      watchChildren: (listener) => attachment.watchChildren(listener),
    };
  }
}

const onlyWebPagesText = 'the debugger must not see: tools work in http and https pages only';

export const addDebuggerTexts: Texts = {
  forAgent: 'The user can add the debugger with: opentabs extension install --debugger',
  forUser: 'To add the debugger, run `opentabs extension install --debugger`.',
};

export const debuggerNotGrantedTexts: Texts = {
  forAgent: `the debugger is not installed. ${addDebuggerTexts.forAgent}`,
  forUser: `The debugger is not installed. ${addDebuggerTexts.forUser}`,
};

function isWebPage(url: string): boolean {
  return url.startsWith('https://') || url.startsWith('http://');
}
