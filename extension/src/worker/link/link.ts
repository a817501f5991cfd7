import {
  checkResult,
  encodeNotification,
  encodeRequest,
  type Frame,
  type NotificationFrame,
  parseFrame,
  type RequestFrame,
} from '../../../../wire/frame.ts';
import {
  CloseReplaced,
  CloseUnpaired,
  CloseVersion,
  CodeVersion,
  type HelloResult,
  MaxSilenceMs,
  type Notifications,
  type RequestMethod,
  type Requests,
  Version,
} from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';
import type { BrowserNotification, BrowserRequest } from './handlers.ts';
import type { Handshake, PortListener, ServerConnection } from './handshake.ts';
import type { HelloIdentity } from './identity.ts';
import type { ServerSocket, SocketOpener } from './socket.ts';

export type LinkDownReason = 'unpaired' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/** LinkState.text is the server's explanation of a closed link, or an empty string. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: LinkDownReason; readonly text: string };

export interface LinkOptions {
  /**
   * The link calls readConnection before each connection attempt, because the user may have installed opentabs again.
   */
  readConnection(): Promise<ServerConnection>;
  savePairedKey(key: string): Promise<void>;
  readIdentity(): Promise<HelloIdentity>;
  receiveBrowserName(server: HelloResult): void;
  openSocket: SocketOpener;
  makeHandshake(connection: ServerConnection): Promise<Handshake>;
  /** findListener detects which program listens on the server's port. */
  findListener(connection: ServerConnection): Promise<PortListener>;
  /** The function `random` returns a random number from 0 to 1, which spreads reconnection attempts over time. */
  random(): number;
}

const RetryDelayMs = 600;
const RetryJitterMs = 300;
/** SlowRetryDelayMs is the delay after failures that a quick retry cannot fix, such as an incompatible version. */
const SlowRetryDelayMs = 30_000;
const PairingRetryDelayMs = 1000;
/**
 * MaxUnsentBytes limits how many bytes of large results wait in the socket, because all later message frames wait
 * behind these bytes.
 */
const MaxUnsentBytes = 1024 * 1024;
const SendBufferDrainMs = 4;
/**
 * ConnectionPrepareTimeoutMs limits the preparation of a connection, because Chrome may never answer a worker that
 * starts while the extension reloads.
 */
const ConnectionPrepareTimeoutMs = 3000;
const OpenTimeoutMs = 5000;
const ServerAnswerTimeoutMs = 10_000;
/**
 * DownloadTimeoutMs limits how long a request may take if the server may download a package for it, in milliseconds.
 */
const DownloadTimeoutMs = 150_000;
/** The link counts heartbeat ticks instead of time, because the clock jumps when the machine sleeps. */
const MaxSilentHeartbeats = 4;
const HeartbeatsBeforePing = 2;

type RequestCallback = (frame: Frame | undefined) => void;

/** ServerLink is the connection to the server, which reconnects as often as necessary. */
export class ServerLink {
  /**
   * The signal `opened` fires when the server has answered hello, before other message frames of the server are
   * handled.
   */
  readonly opened = new Signal();
  readonly lostSignal = new Signal();
  readonly frameSignal = new Signal<[frame: RequestFrame | NotificationFrame]>();
  readonly changed = new Signal();
  readonly #options: LinkOptions;
  readonly #pendingRequests = new Map<string, RequestCallback>();
  #state: LinkState = { kind: 'connecting' };
  #socket: ServerSocket | undefined;
  #isConnecting = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;
  #silentHeartbeatCount = 0;
  #lastUnsentBytes = 0;
  #lastRequestNumber = 0;
  #lastReceivedAtMs = 0;
  #hasFailedToOpen = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** lastReceivedAtMs is when the last message frame arrived, in milliseconds of performance.now(). */
  get lastReceivedAtMs(): number {
    return this.#lastReceivedAtMs;
  }

  /** If the link is down and a retry is pending, the method `start` makes the next attempt immediately. */
  start(): void {
    if (!this.#socket && !(this.#state.kind === 'down' && needsSlowRetry(this.#state.why))) void this.#connectOnce();
  }

  /**
   * The method `restart` closes the link and opens a new link, so that the server receives changed parameters of hello.
   */
  restart(): void {
    const oldSocket = this.#socket;
    if (oldSocket) this.#dropSocket();
    oldSocket?.close();
    void this.#connectOnce();
  }

  send(frameText: string): boolean {
    if (this.#state.kind !== 'open' || !this.#socket) return false;
    this.#socket.send(frameText);
    return true;
  }

  /** getPartDelayMs returns 0 if another part of a large result can be sent now. */
  getPartDelayMs(): number {
    if (this.#state.kind !== 'open' || !this.#socket) return RetryDelayMs;
    return this.#socket.unsentBytes > MaxUnsentBytes ? SendBufferDrainMs : 0;
  }

  notify<M extends BrowserNotification>(method: M, params: Notifications[M]): boolean {
    return this.send(encodeNotification(method, params));
  }

  /**
   * The method `request` rejects if the link is closed or lost, or if the server returns an error. `request` rejects
   * after 10 s without a response, or after 150 s if the server may download a package.
   */
  request<M extends BrowserRequest>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    // A ping on a link that is not open could confirm message frames that were never sent (calls/outbox.ts).
    const socket = this.#state.kind === 'open' ? this.#socket : undefined;
    return socket
      ? this.#sendRequest(socket, method, params)
      : Promise.reject(new Error('there is no link to the server'));
  }

  #sendRequest<M extends BrowserRequest>(
    socket: ServerSocket,
    method: M,
    params: Requests[M]['params'],
  ): Promise<Requests[M]['result']> {
    return new Promise((resolve, reject) => {
      const id = `b${++this.#lastRequestNumber}`;
      const isDownload = method === 'plugin.install' || method === 'plugin.update';
      const timeoutMs = isDownload ? DownloadTimeoutMs : ServerAnswerTimeoutMs;
      const timer = setTimeout(() => {
        this.#pendingRequests.delete(id);
        reject(new MissingAnswerError(`the server did not answer ${method} for ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.#pendingRequests.set(id, (frame) => {
        clearTimeout(timer);
        const answer = readRequestResult(method, frame);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
      socket.send(encodeRequest(id, method, params));
    });
  }

  async #connectOnce(): Promise<void> {
    if (this.#isConnecting || this.#socket) return;
    this.#isConnecting = true;
    clearTimeout(this.#retryTimer);
    try {
      const [connection, hello] = await prepareConnection(this.#options);
      if (this.#hasFailedToOpen) {
        const listener = await this.#options.findListener(connection);
        if (listener !== 'opentabs') return this.#reportUnreachable(listener, connection);
      }
      this.#openSocket(connection, hello, await this.#options.makeHandshake(connection));
    } catch (error) {
      this.#enterDownState('lost', String(error), RetryDelayMs);
    } finally {
      this.#isConnecting = false;
    }
  }

  #openSocket(connection: ServerConnection, hello: HelloIdentity, handshake: Handshake): void {
    let connectionStage: ConnectionStage = 'opening';
    const onEnd = (code: number, reason: string) => {
      clearTimeout(timer);
      if (this.#socket !== socket) return;
      this.#dropSocket();
      if (connection.isCached && connectionStage !== 'proven') return void this.#connectOnce();
      void this.#setStateAfterClose(code, reason, connectionStage, connection);
    };
    /**
     * refuseServer drops its reference to the socket before it closes the socket, because closing is slow if the server
     * does not respond.
     */
    const refuseServer = (code: number, reason: string) => {
      onEnd(code, reason);
      socket.close();
    };
    const onHelloAnswer = (server: HelloResult) => {
      clearTimeout(timer);
      if (this.#socket !== socket) return;
      if (server.pairedKey !== undefined) {
        this.#options.savePairedKey(server.pairedKey).catch((error: unknown) => {
          console.warn(`opentabs: the key of the pairing can't be stored: ${String(error)}`);
        });
      }
      if (server.protocol === Version) this.#enterOpenState(server);
      else refuseServer(CloseVersion, describeVersionMismatch(server));
    };
    /** Before the browser has sent hello, the browser ignores all message frames except the challenge. */
    const onChallenge = async (frameText: string) => {
      const clientProof = await proveIdentity(handshake, frameText);
      if (this.#socket !== socket) return;
      if (clientProof === undefined) return refuseServer(0, '');
      connectionStage = 'proven';
      this.#sendRequest(socket, 'hello', { ...hello, proof: clientProof }).then(onHelloAnswer, (error: unknown) => {
        // Report the error in the response to hello, because a WebSocket's close reason is too short for the message.
        const isVersionError = error instanceof ServerRefusedError && error.code === CodeVersion;
        refuseServer(isVersionError ? CloseVersion : 0, error instanceof Error ? error.message : String(error));
      });
    };
    const timer = setTimeout(() => refuseServer(0, 'the server did not answer'), OpenTimeoutMs);
    const socket = this.#options.openSocket(`ws://127.0.0.1:${connection.port}/ws`, handshake.protocols, {
      onOpen: () => {
        connectionStage = 'opened';
        if (this.#socket === socket) this.#hasFailedToOpen = false;
      },
      onText: (frameText) => {
        if (this.#socket !== socket) return;
        if (connectionStage === 'proven') return this.#receive(frameText);
        if (connectionStage === 'opened') void onChallenge(frameText);
        connectionStage = 'challenged';
      },
      onClose: onEnd,
    });
    this.#socket = socket;
  }

  #enterOpenState(server: HelloResult): void {
    this.#silentHeartbeatCount = 0;
    this.#lastUnsentBytes = 0;
    this.#options.receiveBrowserName(server);
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeat(), MaxSilenceMs / MaxSilentHeartbeats);
    this.#setState({ kind: 'open', serverVersion: server.serverVersion });
    this.opened.emit();
  }

  #checkHeartbeat(): void {
    const unsentBytes = this.#socket?.unsentBytes ?? 0;
    // The server's response to a ping can arrive only after the large result that the worker is sending. If the number
    // of unsent bytes falls, the link is alive even without a response from the server.
    this.#silentHeartbeatCount = unsentBytes < this.#lastUnsentBytes ? 0 : this.#silentHeartbeatCount + 1;
    this.#lastUnsentBytes = unsentBytes;
    if (this.#silentHeartbeatCount >= MaxSilentHeartbeats) {
      const deadSocket = this.#socket;
      this.#dropSocket();
      deadSocket?.close();
      this.#enterDownState('lost', `the server did not answer for ${MaxSilenceMs / 1000} s`, 0);
    } else if (this.#silentHeartbeatCount === HeartbeatsBeforePing) {
      this.request('ping', {}).catch(() => undefined);
    }
  }

  #receive(frameText: string): void {
    this.#silentHeartbeatCount = 0;
    this.#lastReceivedAtMs = performance.now();
    const frame = parseFrame(frameText);
    switch (frame.kind) {
      case 'request':
      case 'notification':
        this.frameSignal.emit(frame);
        break;
      case 'invalid':
        console.warn(`opentabs: a frame of the server was refused: ${frame.formatProblem}`);
        if (frame.reply !== undefined) this.#socket?.send(frame.reply);
        break;
      default: {
        const endRequest = this.#pendingRequests.get(frame.id);
        this.#pendingRequests.delete(frame.id);
        endRequest?.(frame);
      }
    }
  }

  #dropSocket(): void {
    const wasOpen = this.#state.kind === 'open';
    this.#socket = undefined;
    clearInterval(this.#heartbeatTimer);
    const pendingRequests = [...this.#pendingRequests.values()];
    this.#pendingRequests.clear();
    for (const endRequest of pendingRequests) endRequest(undefined);
    if (wasOpen) {
      this.#setState({ kind: 'connecting' });
      this.lostSignal.emit();
    }
  }

  /**
   * Browsers expose neither the HTTP status nor the body of a rejected WebSocket handshake. The panel never shows text
   * from an unauthenticated peer.
   */
  async #setStateAfterClose(
    code: number,
    reason: string,
    connectionStage: ConnectionStage,
    connection: ServerConnection,
  ): Promise<void> {
    if (connectionStage === 'opened' && code === CloseUnpaired && connection.keyId !== undefined)
      return this.#enterDownState('unpaired', '', PairingRetryDelayMs);
    if (connectionStage === 'opened' || connectionStage === 'challenged')
      return this.#enterDownState('refused', describePortInUse(connection), RetryDelayMs);
    if (connectionStage === 'proven') {
      if (code === CloseVersion) return this.#enterDownState('version', reason, SlowRetryDelayMs);
      if (code === CloseReplaced) return this.#enterDownState('replaced', reason, SlowRetryDelayMs);
      return this.#enterDownState('lost', reason, RetryDelayMs);
    }
    this.#hasFailedToOpen = true;
    this.#isConnecting = true;
    const listener = await this.#options.findListener(connection);
    this.#isConnecting = false;
    if (!this.#socket) this.#reportUnreachable(listener, connection);
  }

  #reportUnreachable(listener: PortListener, connection: ServerConnection): void {
    if (listener === 'nothing') this.#enterDownState('no_server', '', RetryDelayMs);
    else this.#enterDownState('refused', describePortInUse(connection), RetryDelayMs);
  }

  #enterDownState(reason: LinkDownReason, frameText: string, waitMs: number): void {
    const { state: linkState } = this;
    if (linkState.kind !== 'down' || linkState.why !== reason || linkState.text !== frameText)
      this.#setState({ kind: 'down', why: reason, text: frameText });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connectOnce(), waitMs + this.#options.random() * RetryJitterMs);
  }

  #setState(linkState: LinkState): void {
    this.#state = linkState;
    this.changed.emit();
  }
}

/**
 * The browser handles the server's message frames only in the stage 'proven', after the server has proved its identity.
 */
type ConnectionStage = 'opening' | 'opened' | 'challenged' | 'proven';

function describePortInUse({ port }: ServerConnection): string {
  return `Port ${port} is in use by another program or another opentabs installation. No data was sent to it.`;
}

/**
 * proveIdentity returns the browser's proof for a challenge, or undefined for an invalid challenge, in a promise that
 * never rejects.
 */
async function proveIdentity(handshake: Handshake, frameText: string): Promise<string | undefined> {
  const frame = parseFrame(frameText);
  if (frame.kind !== 'notification' || frame.method !== 'challenge') return undefined;
  return handshake.answerChallenge(frame.params).catch(() => undefined);
}

async function prepareConnection(options: LinkOptions): Promise<[ServerConnection, HelloIdentity]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeoutPromise = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the browser did not answer for ${ConnectionPrepareTimeoutMs / 1000} s`)),
      ConnectionPrepareTimeoutMs,
    );
  });
  try {
    return await Promise.race([Promise.all([options.readConnection(), options.readIdentity()]), timeoutPromise]);
  } finally {
    clearTimeout(timer);
  }
}

function readRequestResult<M extends RequestMethod>(
  method: M,
  frame: Frame | undefined,
): Requests[M]['result'] | Error {
  if (frame?.kind === 'error') return new ServerRefusedError(frame.error.code, frame.error.message);
  if (frame?.kind !== 'result') return new MissingAnswerError('the link to the server was lost');
  const result = checkResult(method, frame.result);
  return result.ok
    ? result.value
    : new Error(`the server's answer to ${method} can't be read: ${result.formatProblem}`);
}

/** MissingAnswerError is the error of a request that was sent and that the server may have carried out. */
export class MissingAnswerError extends Error {}

class ServerRefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'ServerRefusedError';
    this.code = code;
  }
}

/** describeVersionMismatch returns an error text that names the program that the user has to update. */
function describeVersionMismatch(server: HelloResult): string {
  const versionText = `this extension uses protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${versionText}: update the extension with "opentabs extension install" and reload it`
    : `${versionText}: update the opentabs program`;
}

function needsSlowRetry(reason: LinkDownReason): boolean {
  return reason === 'version' || reason === 'replaced';
}
