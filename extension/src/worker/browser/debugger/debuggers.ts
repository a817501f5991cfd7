import type * as chromeBase from '../../../chrome.ts';
import type * as chromeDebugger from '../../../chrome-debugger.ts';
import type * as chromePages from '../../../chrome-pages.ts';
import type * as chromeTabs from '../../../chrome-tabs.ts';
import { type Fields, isRecord } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import { Signal } from '../../signal.ts';
import { type FailureTexts, ToolFailure, toolFailure } from '../tool-failure.ts';
import { Attachment, type ChildListener, type ChildTarget, type EventListener } from './attachment.ts';
import { TabDialogs } from './dialogs.ts';
import { type DebuggerCommand, type DebuggerFeature, endEmulationCommands, featureCommands } from './features.ts';
import { PressedButtons } from './pressed-buttons.ts';
import { TabDownloads } from './tab-downloads.ts';

export type DebuggerBrowser = typeof chromeDebugger &
  Pick<typeof chromePages, 'watchTabs'> &
  Pick<typeof chromeTabs, 'describeTab'> &
  Pick<typeof chromeBase, 'readSetting' | 'writeSetting' | 'readSessionValue' | 'writeSessionValue'>;

/**
 * In the state "refused", the user has pressed Cancel in Chrome's debugger bar and has not allowed the debugger again.
 */
export type DebuggerState = 'absent' | 'ready' | 'refused';

/** A tool that fails with DebuggerUnavailableError has not acted on the page. */
export class DebuggerUnavailableError extends ToolFailure {
  constructor(code: 'needs_debugger' | 'debugger_refused', failureMessage: string | FailureTexts) {
    super(toolFailure(code, failureMessage).error);
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
   * onChildTarget calls a listener for each cross-site frame and worker of the tab, until the returned function is
   * called. onChildTarget needs the debugger feature "children". A new child target executes the commands that the
   * listener sends synchronously before the target runs any script.
   */
  onChildTarget(listener: ChildListener): () => void;
  /**
   * watchChildren adds a listener like onChildTarget, and resolves when the listener has handled all current child
   * targets.
   */
  watchChildren(listener: ChildListener): Promise<() => void>;
}

/** DebuggerHold keeps the debugger attached to a tab and keeps some debugger features on. */
export interface DebuggerHold {
  readonly session: DebuggerSession;
  /** The field `detachedPromise` is a promise that rejects when the debugger is detached from the tab. */
  readonly detachedPromise: Promise<never>;
  /** The method `release` turns off the features of the DebuggerHold, and allows the debugger to be detached. */
  release(): Promise<void>;
}

/** If the debugger were detached after each tool, Chrome's debugger bar would appear and disappear repeatedly. */
export const DetachDelayMs = 30_000;
const CommandTimeoutMs = 5000;
const CleanupTimeoutMs = 1000;
const DebuggerRefusedSetting = 'debuggerRefused';

const dismissDialogCommand: DebuggerCommand = ['Page.handleJavaScriptDialog', { accept: false }];

const debuggerRefusedTexts: FailureTexts = {
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
  /** dialogs contains the open JavaScript dialogs of all tabs to which the debugger is attached. */
  readonly dialogs: TabDialogs;
  readonly downloads = new TabDownloads();
  readonly #browser: DebuggerBrowser;
  readonly #attachments = new Map<number, Attachment>();
  readonly #pressedButtons: PressedButtons;
  readonly #startPromise: Promise<void>;
  #isDebuggerRefused = false;

  constructor(browser: DebuggerBrowser) {
    this.#browser = browser;
    this.#pressedButtons = new PressedButtons(browser);
    this.dialogs = new TabDialogs({
      isInFront: async (tabId) => (await browser.describeTab(tabId))?.active === true,
      dismiss: (tabId) => awaitWithin(browser.sendToDebugger(tabId, ...dismissDialogCommand), CommandTimeoutMs),
    });
    browser.watchDebugger({
      onEvent: (tabId, method, params, childId) => this.#receive(tabId, method, params, childId),
      onDetach: (tabId, isCancelled) => void this.#handleDetach(tabId, isCancelled),
    });
    this.#startPromise = this.#start();
  }

  get state(): DebuggerState {
    if (!this.#browser.hasDebugger()) return 'absent';
    return this.#isDebuggerRefused ? 'refused' : 'ready';
  }

  /** The method `allowDebugger` must be called only after the user has allowed the debugger again in the side panel. */
  async allowDebugger(): Promise<void> {
    await this.#startPromise;
    await this.#browser.writeSetting(DebuggerRefusedSetting, '');
    this.#isDebuggerRefused = false;
    this.changed.emit();
  }

  /**
   * The method `use` attaches the debugger to a tab, turns on debugger features, and runs a function with the session.
   * `use` fails with DebuggerUnavailableError if the debugger cannot be attached.
   */
  async use<T>(
    tabId: number,
    wantedFeatures: readonly DebuggerFeature[],
    runWithSession: (session: DebuggerSession) => Promise<T>,
  ): Promise<T> {
    const debuggerHold = await this.hold(tabId, wantedFeatures);
    try {
      return await Promise.race([runWithSession(debuggerHold.session), debuggerHold.detachedPromise]);
    } finally {
      await debuggerHold.release();
    }
  }

  /**
   * The method `hold` attaches the debugger to a tab and turns features on. The debugger and the features stay on until
   * the caller releases the DebuggerHold or the debugger is detached.
   */
  async hold(tabId: number, wantedFeatures: readonly DebuggerFeature[]): Promise<DebuggerHold> {
    await this.#startPromise;
    if (this.state === 'absent') throw new DebuggerUnavailableError('needs_debugger', debuggerNotGrantedTexts);
    if (this.state === 'refused') throw new DebuggerUnavailableError('debugger_refused', debuggerRefusedTexts);
    const tabAttachment = this.#attachments.get(tabId) ?? this.#trackAttachment(tabId);
    tabAttachment.addUser();
    const appliedFeatures: DebuggerFeature[] = [];
    let isReleased = false;
    const releaseDebugger = async () => {
      if (isReleased) return;
      isReleased = true;
      await tabAttachment.enqueue(() =>
        Promise.all(appliedFeatures.reverse().map((feature) => this.#turnOffFeature(tabId, tabAttachment, feature))),
      );
      tabAttachment.removeUser(
        DetachDelayMs,
        () => void tabAttachment.enqueue(() => this.#detachIfUnused(tabId, tabAttachment)),
      );
    };
    try {
      await tabAttachment.enqueue(() => this.#attach(tabId, tabAttachment));
      // Chrome executes the commands of a session in order, so each command need not wait for the previous answer.
      appliedFeatures.push(...wantedFeatures);
      await tabAttachment.enqueue(() =>
        Promise.all(wantedFeatures.map((feature) => this.#turnOnFeature(tabId, tabAttachment, feature))),
      );
    } catch (error) {
      await releaseDebugger();
      throw error;
    }
    return {
      session: this.#makeSession(tabId, tabAttachment),
      detachedPromise: tabAttachment.detachedPromise,
      release: releaseDebugger,
    };
  }

  /**
   * detachIfUnused detaches the debugger from a tab immediately, unless a tool uses the debugger or the page shows a
   * dialog.
   */
  async detachIfUnused(tabId: number): Promise<void> {
    const tabAttachment = this.#attachments.get(tabId);
    if (tabAttachment) await tabAttachment.enqueue(() => this.#detachIfUnused(tabId, tabAttachment));
  }

  /**
   * #start restores the state of the previous worker: whether the user refused the debugger, and the tabs to which the
   * debugger is attached.
   */
  async #start(): Promise<void> {
    const browser = this.#browser;
    if (!browser.hasDebugger()) return;
    this.#isDebuggerRefused = (await browser.readSetting(DebuggerRefusedSetting)) === 'yes';
    if (this.#isDebuggerRefused) this.changed.emit();
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
    for (const { off: offCommand } of Object.values(featureCommands)) {
      if (!offCommand) continue;
      const commandResult = this.#browser.sendToDebugger(tabId, ...offCommand).then(() => true);
      if ((await awaitWithin(commandResult, CleanupTimeoutMs)) === true) isAttached = true;
    }
    // If another extension or DevTools uses the tab's debugger, all debugger commands fail.
    if (!isAttached) return;
    for (const command of endEmulationCommands)
      await awaitWithin(this.#browser.sendToDebugger(tabId, ...command), CleanupTimeoutMs);
    const tabAttachment = this.#trackAttachment(tabId);
    tabAttachment.isAttached = true;
    this.#scheduleDetach(tabId, tabAttachment);
  }

  /** #releaseButtons releases mouse buttons that a previous tool pressed in a tab and could not release. */
  async #releaseButtons(tabId: number): Promise<void> {
    const releaseCommands = this.#pressedButtons.takeReleaseCommands(tabId);
    if (releaseCommands.length === 0) return;
    // A background tab receives mouse events only with focus emulation.
    const { on, off: offCommand } = featureCommands.focus;
    for (const command of [on, ...releaseCommands, ...(offCommand ? [offCommand] : [])])
      await awaitWithin(this.#browser.sendToDebugger(tabId, ...command), CleanupTimeoutMs);
  }

  #scheduleDetach(tabId: number, tabAttachment: Attachment): void {
    tabAttachment.addUser();
    tabAttachment.removeUser(
      DetachDelayMs,
      () => void tabAttachment.enqueue(() => this.#detachIfUnused(tabId, tabAttachment)),
    );
  }

  #trackAttachment(tabId: number): Attachment {
    const stopWatching = this.#browser.watchTabs((id, event) => {
      if (id !== tabId || event.kind !== 'committed' || isWebPage(event.url)) return;
      // If the tab has navigated to a page that the debugger must not access, such as chrome://settings, detach the
      // debugger.
      tabAttachment.markDetached(toolFailure('needs_debugger', `the tab shows a page that ${onlyWebPagesText}`));
      void tabAttachment.enqueue(() => this.#detachIfUnused(tabId, tabAttachment));
    });
    const tabAttachment: Attachment = new Attachment(stopWatching);
    this.#attachments.set(tabId, tabAttachment);
    return tabAttachment;
  }

  async #attach(tabId: number, tabAttachment: Attachment): Promise<void> {
    const tab = await this.#browser.describeTab(tabId);
    if (!tab || tab.problem !== undefined || !isWebPage(tab.url))
      throw new DebuggerUnavailableError(
        'needs_debugger',
        tab?.problem ?? `the tab shows a page that ${onlyWebPagesText}`,
      );
    if (tabAttachment.isDetached)
      throw new DebuggerUnavailableError('needs_debugger', 'Chrome has just detached the debugger');
    if (tabAttachment.isAttached) return;
    try {
      await this.#browser.attachDebugger(tabId);
    } catch (error) {
      const failureMessage = error instanceof Error ? error.message : String(error);
      throw new DebuggerUnavailableError('needs_debugger', `Chrome did not attach the debugger: ${failureMessage}`);
    }
    tabAttachment.isAttached = true;
    await this.#releaseButtons(tabId);
  }

  async #turnOnFeature(tabId: number, tabAttachment: Attachment, feature: DebuggerFeature): Promise<void> {
    if (tabAttachment.addFeatureUser(feature) > 1) return;
    const [method, params] = featureCommands[feature].on;
    const commandResult = this.#browser.sendToDebugger(tabId, method, params).then(() => true);
    if ((await awaitWithin(commandResult, CommandTimeoutMs)) === undefined)
      throw new DebuggerUnavailableError('needs_debugger', `Chrome rejected ${method} of the debugger`);
  }

  async #turnOffFeature(tabId: number, tabAttachment: Attachment, feature: DebuggerFeature): Promise<void> {
    const { off: offCommand } = featureCommands[feature];
    if (tabAttachment.removeFeatureUser(feature) > 0 || !tabAttachment.isAttached || !offCommand) return;
    await awaitWithin(this.#browser.sendToDebugger(tabId, ...offCommand), CleanupTimeoutMs);
  }

  async #detachIfUnused(tabId: number, tabAttachment: Attachment): Promise<void> {
    if (tabAttachment.userCount > 0 && !tabAttachment.isDetached) return;
    if (this.dialogs.find(tabId) && !tabAttachment.isDetached) {
      this.#scheduleDetach(tabId, tabAttachment);
      return;
    }
    if (tabAttachment.isAttached) {
      tabAttachment.isAttached = false;
      await this.#browser.detachDebugger(tabId).catch(() => undefined);
    }
    // If a tool starts while the debugger is being detached, the tool attaches the debugger again.
    if (tabAttachment.userCount === 0 || tabAttachment.isDetached) this.#removeAttachment(tabId, tabAttachment);
  }

  #removeAttachment(tabId: number, tabAttachment: Attachment): void {
    this.dialogs.forgetTab(tabId);
    tabAttachment.close();
    if (this.#attachments.get(tabId) === tabAttachment) this.#attachments.delete(tabId);
  }

  async #handleDetach(tabId: number, isCancelled: boolean): Promise<void> {
    const tabAttachment = this.#attachments.get(tabId);
    if (tabAttachment) {
      tabAttachment.isAttached = false;
      tabAttachment.markDetached(
        isCancelled
          ? toolFailure('debugger_refused', {
              forAgent: `${debuggerRefusedTexts.forAgent}. The tool may have acted`,
              forUser: `${debuggerRefusedTexts.forUser} The tool may have acted.`,
            })
          : toolFailure('needs_debugger', 'Chrome detached the debugger while the tool ran; the tool may have acted'),
      );
      this.#removeAttachment(tabId, tabAttachment);
    }
    if (!isCancelled || this.#isDebuggerRefused) return;
    this.#isDebuggerRefused = true;
    this.changed.emit();
    await this.#browser.writeSetting(DebuggerRefusedSetting, 'yes');
  }

  #receive(tabId: number, method: string, params: Fields, childId: string): void {
    const tabAttachment = this.#attachments.get(tabId);
    if (!tabAttachment) return;
    this.dialogs.handleEvent(tabId, method, params);
    this.downloads.handleEvent(tabId, method, params);
    const { sessionId, targetInfo } = params;
    if (method === 'Target.attachedToTarget' && typeof sessionId === 'string' && isRecord(targetInfo)) {
      const readTargetText = (key: string) => String(targetInfo[key] ?? '');
      const child = {
        id: sessionId,
        kind: readTargetText('type'),
        targetId: readTargetText('targetId'),
        url: readTargetText('url'),
      };
      this.#startChild(tabId, tabAttachment, child);
    } else if (method === 'Target.detachedFromTarget' && typeof sessionId === 'string') {
      tabAttachment.removeChild(sessionId);
    }
    tabAttachment.emitEvent(method, params, childId);
  }

  /**
   * #startChild resumes a new cross-site frame or worker after it has executed the commands that listeners send
   * synchronously.
   */
  #startChild(tabId: number, tabAttachment: Attachment, child: ChildTarget): void {
    const sendCommand = (method: string, params: Fields) =>
      // If a child target no longer exists, Chrome rejects all commands for it.
      this.#browser.sendToDebugger(tabId, method, params, child.id).catch(() => undefined);
    tabAttachment.addChild(child);
    // Attach the debugger to the frames and workers inside the child target.
    void sendCommand(...featureCommands.children.on);
    void sendCommand('Runtime.runIfWaitingForDebugger', {});
  }

  #makeSession(tabId: number, tabAttachment: Attachment): DebuggerSession {
    return {
      send: async (method, params = {}, limitMs = CommandTimeoutMs, childId = '') => {
        let failure: unknown;
        this.#pressedButtons.record(tabId, method, params);
        const commandResult = this.#browser.sendToDebugger(tabId, method, params, childId).catch((error: unknown) => {
          failure = error;
          return undefined;
        });
        const commandAnswer = await awaitWithin(commandResult, limitMs);
        if (commandAnswer !== undefined) return commandAnswer;
        if (failure !== undefined) throw failure;
        throw toolFailure('timeout', `Chrome did not finish ${method} within ${limitMs / 1000} s`);
      },
      onEvent: (listener) => tabAttachment.onEvent(listener),
      onChildTarget: (listener) => tabAttachment.onChildTarget(listener),
      watchChildren: (listener) => tabAttachment.watchChildren(listener),
    };
  }
}

const onlyWebPagesText = 'the debugger must not see: tools work in http and https pages only';

export const debuggerInstallTexts: FailureTexts = {
  forAgent: 'The user can add the debugger with: opentabs extension install --debugger',
  forUser: 'To add the debugger, run `opentabs extension install --debugger`.',
};

export const debuggerNotGrantedTexts: FailureTexts = {
  forAgent: `the debugger is not installed. ${debuggerInstallTexts.forAgent}`,
  forUser: `The debugger is not installed. ${debuggerInstallTexts.forUser}`,
};

function isWebPage(url: string): boolean {
  return url.startsWith('https://') || url.startsWith('http://');
}
