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
import type { Connection, Handshake, Listener } from './handshake.ts';
import type { Identity } from './identity.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** DownReason is why the link to the server is down. */
export type DownReason = 'unpaired' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/**
 * LinkState is the state of the link that the side panel shows. The field text is the server's explanation of a closed
 * link, or an empty string.
 */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: DownReason; readonly text: string };

export interface LinkOptions {
  /**
   * readConnection reads the server's port and the shared key. The link calls readConnection before each connection
   * attempt, because the user may have installed opentabs again.
   */
  readConnection(): Promise<Connection>;
  /** savePairedKey stores the key of a new pairing for later connections. */
  savePairedKey(key: string): Promise<void>;
  /**
   * readIdentity returns the parameters of hello that identify this browser. The link calls readIdentity before each
   * connection attempt.
   */
  readIdentity(): Promise<Identity>;
  /** receiveName receives the name of this browser from the server's response to hello. */
  receiveName(server: HelloResult): void;
  openSocket: OpenSocket;
  /** makeHandshake prepares the handshake of one WebSocket. */
  makeHandshake(connection: Connection): Promise<Handshake>;
  /**
   * findListener detects which program listens on the server's port. The link calls findListener after a WebSocket
   * failed to open, and before the next attempt.
   */
  findListener(connection: Connection): Promise<Listener>;
  /** random returns a random number from 0 to 1, which spreads reconnection attempts over time. */
  random(): number;
}

/**
 * RetryDelayMs is the delay before the next connection attempt, in milliseconds. The link adds a random time of up to
 * RetryJitterMs to the delay before a connection attempt. SlowRetryDelayMs is the delay after failures that a quick
 * retry cannot fix, such as an incompatible version.
 */
const RetryDelayMs = 600;
const RetryJitterMs = 300;
const SlowRetryDelayMs = 30_000;
/**
 * PairingRetryDelayMs is the delay before the next connection attempt while this browser is not paired, in
 * milliseconds.
 */
const PairingRetryDelayMs = 1000;
/**
 * MaxUnsentBytes limits how many bytes of large results wait in the socket, because all later message frames wait
 * behind these bytes. SendBufferDrainMs is roughly how long sending MaxUnsentBytes takes, in milliseconds.
 */
const MaxUnsentBytes = 1024 * 1024;
const SendBufferDrainMs = 4;
/**
 * PrepareTimeoutMs limits how long Chrome may take to read the server's address and the browser's identity, in
 * milliseconds. If the worker starts while the extension reloads, Chrome may never return the server's address and the
 * browser's identity.
 */
const PrepareTimeoutMs = 3000;
const OpenTimeoutMs = 5000;
const AnswerTimeoutMs = 10_000;
/**
 * DownloadTimeoutMs limits how long a request may take if the server may download a package for it, in milliseconds.
 */
const DownloadTimeoutMs = 150_000;
/**
 * A timer counts its ticks since the server's last message. If the server has sent no message for HeartbeatsBeforePing
 * ticks of the timer, the link sends a ping. If the server has sent no message for MaxSilentHeartbeats ticks of the
 * timer, the link closes. The link counts ticks instead of time, because the clock jumps when the machine sleeps.
 */
const MaxSilentHeartbeats = 4;
const HeartbeatsBeforePing = 2;

/**
 * RequestCallback ends one pending request of the browser. frame is the server's response, or undefined if the link was
 * lost.
 */
type RequestCallback = (frame: Frame | undefined) => void;

/** Link is the connection to the server, which reconnects as often as necessary. */
export class Link {
  /** opened fires when the server has answered hello, before other message frames of the server are handled. */
  readonly opened = new Signal();
  /** lost fires when an open link to the server is lost. */
  readonly lost = new Signal();
  /** received fires with each request or notification from the server. */
  readonly received = new Signal<[frame: RequestFrame | NotificationFrame]>();
  /** changed fires when the state of the link to the server changes. */
  readonly changed = new Signal();
  readonly #options: LinkOptions;
  readonly #pending = new Map<string, RequestCallback>();
  #state: LinkState = { kind: 'connecting' };
  #socket: Socket | undefined;
  /**
   * #isTrying is true while a connection attempt is being prepared, or while the link is determining why an attempt
   * failed.
   */
  #isTrying = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;
  /**
   * #silentHeartbeats counts the timer ticks since the last message from the server. #lastUnsentBytes is the number of
   * unsent bytes at the last tick.
   */
  #silentHeartbeats = 0;
  #lastUnsentBytes = 0;
  #lastRequestNumber = 0;
  #lastReceivedAtMs = 0;
  /** #hasFailedToOpen is true after a WebSocket failed to open. */
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

  /** start opens the link. If the link is down and a retry is pending, start makes the next attempt immediately. */
  start(): void {
    if (!this.#socket && !(this.#state.kind === 'down' && needsSlowRetry(this.#state.why))) void this.#connectOnce();
  }

  /** restart closes the link and opens a new link, so that the server receives changed parameters of hello. */
  restart(): void {
    const oldSocket = this.#socket;
    if (oldSocket) this.#dropSocket();
    oldSocket?.close();
    void this.#connectOnce();
  }

  /** send sends a message frame to the server and returns true, or returns false while the link is closed. */
  send(text: string): boolean {
    if (this.#state.kind !== 'open' || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  /**
   * waitBeforePartMs returns 0 if another part of a large result can be sent now. While more than MaxUnsentBytes bytes
   * are unsent, waitBeforePartMs returns the delay before the next check, in milliseconds.
   */
  waitBeforePartMs(): number {
    if (this.#state.kind !== 'open' || !this.#socket) return RetryDelayMs;
    return this.#socket.unsentBytes > MaxUnsentBytes ? SendBufferDrainMs : 0;
  }

  notify<M extends BrowserNotification>(method: M, params: Notifications[M]): boolean {
    return this.send(encodeNotification(method, params));
  }

  /**
   * request sends a request to the server and resolves with the result. request rejects if the link is closed or lost,
   * or if the server returns an error. request also rejects after 10 s, or after 150 s if the server may download a
   * package.
   */
  request<M extends BrowserRequest>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    // Before the server has answered hello, the link rejects requests. Without the check for an open link, the server's
    // response to an earlier ping would confirm frames that were never sent (calls/outbox.ts).
    const socket = this.#state.kind === 'open' ? this.#socket : undefined;
    return socket
      ? this.#sendRequest(socket, method, params)
      : Promise.reject(new Error('there is no link to the server'));
  }

  #sendRequest<M extends BrowserRequest>(
    socket: Socket,
    method: M,
    params: Requests[M]['params'],
  ): Promise<Requests[M]['result']> {
    return new Promise((resolve, reject) => {
      const id = `b${++this.#lastRequestNumber}`;
      const isDownload = method === 'plugin.install' || method === 'plugin.update';
      const timeoutMs = isDownload ? DownloadTimeoutMs : AnswerTimeoutMs;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error(`the server did not answer ${method} for ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.#pending.set(id, (frame) => {
        clearTimeout(timer);
        const answer = readAnswer(method, frame);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
      socket.send(encodeRequest(id, method, params));
    });
  }

  async #connectOnce(): Promise<void> {
    if (this.#isTrying || this.#socket) return;
    this.#isTrying = true;
    clearTimeout(this.#retryTimer);
    try {
      const [connection, hello] = await prepareConnection(this.#options);
      if (this.#hasFailedToOpen) {
        const listener = await this.#options.findListener(connection);
        if (listener !== 'opentabs') return this.#reportUnreachable(listener, connection);
      }
      this.#openSocket(connection, hello, await this.#options.makeHandshake(connection));
    } catch (error) {
      this.#markDown('lost', String(error), RetryDelayMs);
    } finally {
      this.#isTrying = false;
    }
  }

  #openSocket(connection: Connection, hello: Identity, handshake: Handshake): void {
    let stage: ConnectionStage = 'opening';
    /** onEnd handles a closed socket, regardless of which side closed the socket. */
    const onEnd = (code: number, reason: string) => {
      clearTimeout(timer);
      if (this.#socket !== socket) return;
      this.#dropSocket();
      void this.#explainClose(code, reason, stage, connection);
    };
    /** refuse forgets the socket before closing it, because closing takes long if the server does not respond. */
    const refuse = (code: number, reason: string) => {
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
      if (server.protocol === Version) this.#setOpen(server);
      else refuse(CloseVersion, describeVersionMismatch(server));
    };
    /**
     * onChallenge handles the challenge, which is the server's first frame. Before the browser has sent hello, the
     * browser ignores all message frames except the challenge.
     */
    const onChallenge = async (text: string) => {
      const proof = await proveIdentity(handshake, text);
      if (this.#socket !== socket) return;
      if (proof === undefined) return refuse(0, '');
      stage = 'proven';
      this.#sendRequest(socket, 'hello', { ...hello, proof }).then(onHelloAnswer, (error: unknown) => {
        // Report the error in the response to hello, because the close reason of a WebSocket is too short for the full
        // message.
        const isVersionError = error instanceof RefusedError && error.code === CodeVersion;
        refuse(isVersionError ? CloseVersion : 0, error instanceof Error ? error.message : String(error));
      });
    };
    const timer = setTimeout(() => refuse(0, 'the server did not answer'), OpenTimeoutMs);
    const socket = this.#options.openSocket(`ws://127.0.0.1:${connection.port}/ws`, handshake.protocols, {
      onOpen: () => {
        stage = 'opened';
        if (this.#socket === socket) this.#hasFailedToOpen = false;
      },
      onText: (text) => {
        if (this.#socket !== socket) return;
        if (stage === 'proven') return this.#receive(text);
        if (stage === 'opened') void onChallenge(text);
        stage = 'challenged';
      },
      onClose: onEnd,
    });
    this.#socket = socket;
  }

  #setOpen(server: HelloResult): void {
    this.#silentHeartbeats = 0;
    this.#lastUnsentBytes = 0;
    this.#options.receiveName(server);
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeat(), MaxSilenceMs / MaxSilentHeartbeats);
    this.#setState({ kind: 'open', serverVersion: server.serverVersion });
    this.opened.emit();
  }

  #checkHeartbeat(): void {
    const unsentBytes = this.#socket?.unsentBytes ?? 0;
    // The server's response to a ping can arrive only after the large result that the worker is sending. If the number
    // of unsent bytes falls, the link is alive even without a response from the server.
    this.#silentHeartbeats = unsentBytes < this.#lastUnsentBytes ? 0 : this.#silentHeartbeats + 1;
    this.#lastUnsentBytes = unsentBytes;
    if (this.#silentHeartbeats >= MaxSilentHeartbeats) {
      const deadSocket = this.#socket;
      this.#dropSocket();
      deadSocket?.close();
      this.#markDown('lost', `the server did not answer for ${MaxSilenceMs / 1000} s`, 0);
    } else if (this.#silentHeartbeats === HeartbeatsBeforePing) {
      this.request('ping', {}).catch(() => undefined);
    }
  }

  #receive(text: string): void {
    this.#silentHeartbeats = 0;
    this.#lastReceivedAtMs = performance.now();
    const frame = parseFrame(text);
    switch (frame.kind) {
      case 'request':
      case 'notification':
        this.received.emit(frame);
        break;
      case 'invalid':
        console.warn(`opentabs: a frame of the server was refused: ${frame.problem}`);
        if (frame.reply !== undefined) this.#socket?.send(frame.reply);
        break;
      default: {
        const endRequest = this.#pending.get(frame.id);
        this.#pending.delete(frame.id);
        endRequest?.(frame);
      }
    }
  }

  /** dropSocket forgets the socket and rejects its pending requests. */
  #dropSocket(): void {
    const wasOpen = this.#state.kind === 'open';
    this.#socket = undefined;
    clearInterval(this.#heartbeatTimer);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const endRequest of pending) endRequest(undefined);
    if (wasOpen) {
      this.#setState({ kind: 'connecting' });
      this.lost.emit();
    }
  }

  /**
   * explainClose determines why a socket closed. Browsers expose neither the HTTP status nor the body of a rejected
   * WebSocket handshake. The panel never shows text from an unauthenticated peer.
   */
  async #explainClose(code: number, reason: string, stage: ConnectionStage, connection: Connection): Promise<void> {
    if (stage === 'opened' && code === CloseUnpaired && connection.keyId !== undefined)
      return this.#markDown('unpaired', '', PairingRetryDelayMs);
    if (stage === 'opened' || stage === 'challenged')
      return this.#markDown('refused', describePortInUse(connection), RetryDelayMs);
    if (stage === 'proven') {
      if (code === CloseVersion) return this.#markDown('version', reason, SlowRetryDelayMs);
      if (code === CloseReplaced) return this.#markDown('replaced', reason, SlowRetryDelayMs);
      return this.#markDown('lost', reason, RetryDelayMs);
    }
    this.#hasFailedToOpen = true;
    this.#isTrying = true;
    const listener = await this.#options.findListener(connection);
    this.#isTrying = false;
    if (!this.#socket) this.#reportUnreachable(listener, connection);
  }

  /** reportUnreachable sets the state of the link after a WebSocket could not be opened. */
  #reportUnreachable(listener: Listener, connection: Connection): void {
    if (listener === 'nothing') this.#markDown('no_server', '', RetryDelayMs);
    else this.#markDown('refused', describePortInUse(connection), RetryDelayMs);
  }

  #markDown(reason: DownReason, text: string, waitMs: number): void {
    const { state } = this;
    if (state.kind !== 'down' || state.why !== reason || state.text !== text)
      this.#setState({ kind: 'down', why: reason, text });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connectOnce(), waitMs + this.#options.random() * RetryJitterMs);
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.changed.emit();
  }
}

/**
 * ConnectionStage is the progress of the handshake on a socket. The browser handles the server's message frames only in
 * the stage 'proven', after the server has proved its identity.
 */
type ConnectionStage = 'opening' | 'opened' | 'challenged' | 'proven';

/**
 * describePortInUse returns the error text for a port that another program or another installation of opentabs uses.
 */
function describePortInUse({ port }: Connection): string {
  return `Port ${port} is in use by another program or another opentabs installation. No data was sent to it.`;
}

/**
 * proveIdentity returns the browser's proof if the server's first frame is a valid challenge, and undefined for any
 * other frame. proveIdentity never rejects.
 */
async function proveIdentity(handshake: Handshake, text: string): Promise<string | undefined> {
  const frame = parseFrame(text);
  if (frame.kind !== 'notification' || frame.method !== 'challenge') return undefined;
  return handshake.proveTo(frame.params).catch(() => undefined);
}

/**
 * prepareConnection reads the server's address and the identity of this browser. prepareConnection rejects after
 * PrepareTimeoutMs.
 */
async function prepareConnection(options: LinkOptions): Promise<[Connection, Identity]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the browser did not answer for ${PrepareTimeoutMs / 1000} s`)),
      PrepareTimeoutMs,
    );
  });
  try {
    return await Promise.race([Promise.all([options.readConnection(), options.readIdentity()]), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * readAnswer returns the result or the error in a response. frame is the server's response, or undefined if the link
 * was lost.
 */
function readAnswer<M extends RequestMethod>(method: M, frame: Frame | undefined): Requests[M]['result'] | Error {
  if (frame?.kind === 'error') return new RefusedError(frame.error.code, frame.error.message);
  if (frame?.kind !== 'result') return new Error('the link to the server was lost');
  const result = checkResult(method, frame.result);
  return result.ok ? result.value : new Error(`the server's answer to ${method} can't be read: ${result.problem}`);
}

/** RefusedError is an error that the server returned for a request. */
class RefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** describeVersionMismatch returns an error text that names the side that the user has to update. */
function describeVersionMismatch(server: HelloResult): string {
  const versions = `this extension uses protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${versions}: update the extension with "opentabs extension install" and reload it`
    : `${versions}: update the opentabs program`;
}

/** needsSlowRetry reports whether a quick retry cannot fix a failure. */
function needsSlowRetry(reason: DownReason): boolean {
  return reason === 'version' || reason === 'replaced';
}
