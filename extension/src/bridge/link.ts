import { type Batcher, makeBatcher, makeTaskScheduler } from '../batch.ts';
import type { BridgeToWorkerMessage, WorkerToBridgeMessage } from '../port-message.ts';
import { countMessageChars, decodeMessages, encodeMessages } from '../port-text.ts';

export interface WorkerPort {
  postMessage(portMessage: unknown): void;
  onMessage(listener: (portMessage: unknown) => void): void;
  onDisconnect(listener: () => void): void;
  disconnect(): void;
}

export interface LinkOptions {
  /**
   * The method `connect` opens a port to the worker, and starts the worker if needed. `connect` throws if the extension
   * was removed or reloaded.
   */
  connect(): WorkerPort;
  /** isExtensionAlive returns false once the extension that injected this bridge was removed, reloaded or updated. */
  isExtensionAlive(): boolean;
  read(portMessage: unknown): WorkerToBridgeMessage | undefined;
  /** scheduleTask runs `scheduledTask` after the tasks that are already in the queue of the event loop. */
  readonly scheduleTask?: (scheduledTask: () => void) => void;
}

export interface LinkSession {
  /** `arrivedMs` is the time at which the message arrived, as performance.now() returned it. */
  onReceived(portMessage: WorkerToBridgeMessage, arrivedMs: number): void;
  /** makeGreeting returns the greeting, which the link sends as the first message on each new port. */
  makeGreeting(): BridgeToWorkerMessage;
  /** onConnected is called when a new port is open and the greeting was sent on it. */
  onConnected(): void;
  /**
   * isLikelyLastMessage returns true if the document will probably not send another message soon; see BatcherOptions.
   */
  isLikelyLastMessage(): boolean;
  /**
   * onOrphaned is called when the link can no longer open a port, because the extension was removed, reloaded or
   * updated.
   */
  onOrphaned(): void;
}

/** MaxShortConnectionMs is the lifetime, in milliseconds, below which a port counts as short-lived. */
const MaxShortConnectionMs = 1000;
/** Each further attempt to reopen the port doubles the delay, up to MaxRetryDelayMs. */
const RetryDelayMs = 50;
const MaxRetryDelayMs = 1000;
/**
 * AliveCheckIntervalMs is the interval, in milliseconds, at which the link checks whether the extension is still
 * loaded.
 */
const AliveCheckIntervalMs = 1000;
const MaxAliveChecks = 10;

/**
 * BridgeLink reopens the port whenever Chrome closes it: at once, or with a delay if the worker keeps closing the port.
 */
export class BridgeLink {
  readonly #options: LinkOptions;
  readonly #scheduleTask: (scheduledTask: () => void) => void;
  readonly #batcher: Batcher<BridgeToWorkerMessage>;
  #session: LinkSession | undefined;
  #port: WorkerPort | undefined;
  #isOrphan = false;
  #isClosedForNavigation = false;
  #shortConnectionCount = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#scheduleTask = options.scheduleTask ?? makeTaskScheduler();
    const sendMessages = (bridgeMessages: readonly BridgeToWorkerMessage[]) => this.#send(bridgeMessages);
    const isLikelyLastMessage = () => this.#session?.isLikelyLastMessage() === true;
    this.#batcher = makeBatcher<BridgeToWorkerMessage>({
      sendMessages,
      countChars: countMessageChars,
      isLikelyLastMessage,
      scheduleTask: this.#scheduleTask,
    });
  }

  post(portMessage: BridgeToWorkerMessage): boolean {
    return this.#batcher.post(portMessage);
  }

  open(session: LinkSession): void {
    this.#session = session;
    this.#connect();
  }

  /**
   * The method `reopen` is for documents that return from the back/forward cache, because Chrome does not always report
   * their closed ports.
   */
  reopen(): void {
    this.#close();
    this.#isClosedForNavigation = false;
    this.#connect();
  }

  /**
   * When the user leaves a document, the server ends the document's calls. A later retry of an ended call can run in
   * another document.
   */
  closeForNavigation(): void {
    this.#isClosedForNavigation = true;
    this.#batcher.flushMessages();
    this.#close();
  }

  #connect(): void {
    const session = this.#session;
    if (!session || this.#port || this.#isOrphan || this.#isClosedForNavigation) return;
    try {
      this.#listenToPort(this.#options.connect(), session);
    } catch {
      this.#markOrphaned();
      return;
    }
    this.#send([session.makeGreeting()]);
    // The link first sends the messages that waited for a port, because they are older than the messages that
    // session.onConnected sends. The link drops waiting tool requests and call endings, because the method
    // session.onConnected sends them again on the new port. If the link sent a call's ending before the result's parts,
    // the server would lack parts that the ending needs.
    this.#batcher.dropMatching(({ op }) => op === 'part' || op === 'result' || op === 'error' || op === 'toolRequest');
    this.#batcher.flushMessages();
    session.onConnected();
  }

  #send(bridgeMessages: readonly BridgeToWorkerMessage[]): boolean {
    if (!this.#port) return false;
    try {
      this.#port.postMessage(encodeMessages(bridgeMessages));
      return true;
    } catch {
      // Posting throws if Chrome has closed the port, but has not called onDisconnect yet.
      return false;
    }
  }

  #listenToPort(port: WorkerPort, session: LinkSession): void {
    const openedAtMs = Date.now();
    this.#port = port;
    port.onMessage((rawMessage) => {
      const arrivedMs = performance.now();
      for (const portMessage of decodeMessages(rawMessage, this.#options.read)) {
        if (this.#port !== port) return;
        // The link answers a ping before it handles other messages, because a call can block the page.
        if (portMessage.op === 'ping') this.#send([{ op: 'pong', ping: portMessage.ping }]);
        else session.onReceived(portMessage, arrivedMs);
      }
    });
    port.onDisconnect(() => {
      if (this.#port === port) this.#onDisconnect(openedAtMs);
    });
  }

  #onDisconnect(openedAtMs: number): void {
    this.#port = undefined;
    if (!this.#options.isExtensionAlive()) {
      this.#markOrphaned();
      return;
    }
    setTimeout(() => this.#checkExtensionAlive(MaxAliveChecks), AliveCheckIntervalMs);
    this.#shortConnectionCount = Date.now() - openedAtMs < MaxShortConnectionMs ? this.#shortConnectionCount + 1 : 0;
    // Chrome closes the port when it stops the worker, and a new connection restarts the worker. The link reconnects
    // without a timer, because Chrome fires timers in hidden tabs at most once per second. A document in the
    // back/forward cache runs no code; its `pageshow` event reopens the link.
    if (this.#shortConnectionCount < 2) this.#scheduleTask(() => this.#connect());
    else
      setTimeout(
        () => this.#connect(),
        Math.min(RetryDelayMs * 2 ** (this.#shortConnectionCount - 2), MaxRetryDelayMs),
      );
  }

  /** Chrome may fire no disconnect event for a port that the document opened during a reload of the extension. */
  #checkExtensionAlive(checksLeft: number): void {
    if (this.#isOrphan || this.#isClosedForNavigation) return;
    if (!this.#options.isExtensionAlive()) this.#markOrphaned();
    else if (checksLeft > 1) setTimeout(() => this.#checkExtensionAlive(checksLeft - 1), AliveCheckIntervalMs);
  }

  #markOrphaned(): void {
    this.#port = undefined;
    if (this.#isOrphan) return;
    this.#isOrphan = true;
    this.#session?.onOrphaned();
  }

  #close(): void {
    const oldPort = this.#port;
    this.#port = undefined;
    oldPort?.disconnect();
  }
}
