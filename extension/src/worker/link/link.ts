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

/** DownReason is the reason why there is no link. */
export type DownReason = 'unpaired' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/** LinkState is the state of the link for the panel. text is the explanation that the server sent, or empty. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: DownReason; readonly text: string };

export interface LinkOptions {
  /**
   * readConnection reads the server's port and key. The link calls readConnection before each attempt to connect, so
   * that a new installation is detected.
   */
  readConnection(): Promise<Connection>;
  /** savePairedKey stores the shared key for later connections of a browser that has just been paired. */
  savePairedKey(key: string): Promise<void>;
  /** readIdentity returns the identity of this browser. The link calls readIdentity before each attempt to connect. */
  readIdentity(): Promise<Identity>;
  /** receiveName receives the name of this browser from the server's answer to hello. */
  receiveName(server: HelloResult): void;
  openSocket: OpenSocket;
  /** makeHandshake prepares the handshake of one socket. */
  makeHandshake(connection: Connection): Promise<Handshake>;
  /**
   * findListener finds out what listens on the port. The link calls findListener after a socket failed to open, and
   * before the next attempt.
   */
  findListener(connection: Connection): Promise<Listener>;
  /** random returns a number from 0 to 1, for jitter. */
  random(): number;
}

/**
 * RetryMs is the time before the next attempt to connect, in milliseconds. The link adds a random part of RetryJitterMs
 * to RetryMs. SlowRetryMs is used for failures that a retry cannot fix.
 */
const RetryMs = 600;
const RetryJitterMs = 300;
const SlowRetryMs = 30_000;
/** PairingRetryMs is the time before the next connection attempt of a browser that is not paired, in milliseconds. */
const PairingRetryMs = 1000;
/**
 * MaxUnsentBytes limits the unsent bytes of large results in the socket, because other frames queue behind these bytes.
 * SendBufferDrainMs is roughly how long MaxUnsentBytes bytes take to send, in milliseconds.
 */
const MaxUnsentBytes = 1024 * 1024;
const SendBufferDrainMs = 4;
/**
 * PrepareTimeoutMs is how long Chrome may take to return the server's address and this browser's identity, in
 * milliseconds. In a worker that starts during an extension reload, Chrome may never return the address and the
 * identity.
 */
const PrepareTimeoutMs = 3000;
const OpenTimeoutMs = 5000;
const AnswerTimeoutMs = 10_000;
/** DownloadTimeoutMs limits a request for which the server may download a package, in milliseconds. */
const DownloadTimeoutMs = 150_000;
/**
 * The link ends after MaxSilentBeats ticks of its timer without a message, and sends a ping after BeatsBeforePing
 * ticks. The clock jumps when the machine sleeps or the browser is suspended, so the link counts ticks instead of time.
 */
const MaxSilentBeats = 4;
const BeatsBeforePing = 2;

/** EndRequest ends one request of the browser. frame is the server's answer; undefined if the link was lost. */
type EndRequest = (frame: Frame | undefined) => void;

/** Link is the connection to the server. The number of attempts to connect is not limited. */
export class Link {
  /** opened reports that the server has answered hello, before other frames are handled. */
  readonly opened = new Signal();
  /** lost reports that an open link was lost. */
  readonly lost = new Signal();
  /** received reports a frame of the server, except answers. */
  readonly received = new Signal<[frame: RequestFrame | NotificationFrame]>();
  /** changed is fired when the state of the link has changed. */
  readonly changed = new Signal();
  readonly #options: LinkOptions;
  readonly #pending = new Map<string, EndRequest>();
  #state: LinkState = { kind: 'connecting' };
  #socket: Socket | undefined;
  /** #isTrying is true while an attempt is being prepared, or while the failure of an attempt is being explained. */
  #isTrying = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #beatTimer: ReturnType<typeof setInterval> | undefined;
  /**
   * #silentBeats counts the beats since the last message. #lastUnsentBytes is the number of unsent bytes at the last
   * beat.
   */
  #silentBeats = 0;
  #lastUnsentBytes = 0;
  #lastRequestNumber = 0;
  #receivedMs = 0;
  /** #hasFailedToOpen is true after a socket failed to open. */
  #hasFailedToOpen = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** receivedMs is when the last frame arrived, by performance.now(). */
  get receivedMs(): number {
    return this.#receivedMs;
  }

  /** start makes the first attempt to open the link. A later call of start retries at once if there is no link. */
  start(): void {
    if (!this.#socket && !(this.#state.kind === 'down' && isSlow(this.#state.why))) void this.#tryOnce();
  }

  /** restart closes the link and opens a new link, to apply changes that are sent with or after hello. */
  restart(): void {
    const oldSocket = this.#socket;
    if (oldSocket) this.#dropSocket();
    oldSocket?.close();
    void this.#tryOnce();
  }

  /** send sends a frame to the server. Without a link, send returns false. */
  send(text: string): boolean {
    if (this.#state.kind !== 'open' || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  /**
   * waitBeforePartMs returns 0 if the socket has sent most of its data. If the socket has much unsent data,
   * waitBeforePartMs returns the time until the next check, in milliseconds.
   */
  waitBeforePartMs(): number {
    if (this.#state.kind !== 'open' || !this.#socket) return RetryMs;
    return this.#socket.unsentBytes > MaxUnsentBytes ? SendBufferDrainMs : 0;
  }

  notify<M extends BrowserNotification>(method: M, params: Notifications[M]): boolean {
    return this.send(encodeNotification(method, params));
  }

  /**
   * request sends a request to the server. request rejects if no link is open, when the link is lost, after 10 s
   * (150 s if the server may download a package), and with the error that the server returned.
   */
  request<M extends BrowserRequest>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    // Before hello is answered, the answer to a ping would confirm frames that were not sent (calls/outbox.ts).
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

  async #tryOnce(): Promise<void> {
    if (this.#isTrying || this.#socket) return;
    this.#isTrying = true;
    clearTimeout(this.#retryTimer);
    try {
      const [connection, hello] = await prepareTry(this.#options);
      if (this.#hasFailedToOpen) {
        const listener = await this.#options.findListener(connection);
        if (listener !== 'opentabs') return this.#reportUnreachable(listener, connection);
      }
      this.#openSocket(connection, hello, await this.#options.makeHandshake(connection));
    } catch (error) {
      this.#goDown('lost', String(error), RetryMs);
    } finally {
      this.#isTrying = false;
    }
  }

  #openSocket(connection: Connection, hello: Identity, handshake: Handshake): void {
    let stage: Stage = 'opening';
    /** onEnd handles the end of a socket, whichever side closed the socket. */
    const onEnd = (code: number, reason: string) => {
      clearTimeout(timer);
      if (this.#socket !== socket) return;
      this.#dropSocket();
      void this.#explainClose(code, reason, stage, connection);
    };
    /** refuse drops the socket before closing it, because closing is slow if the server hangs. */
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
      else refuse(CloseVersion, versionMismatch(server));
    };
    /**
     * onChallenge handles the first frame of the server, which is the challenge. Before hello is sent, the browser
     * reads no other frame.
     */
    const onChallenge = async (text: string) => {
      const proof = await proveIdentity(handshake, text);
      if (this.#socket !== socket) return;
      if (proof === undefined) return refuse(0, '');
      stage = 'proven';
      this.#sendRequest(socket, 'hello', { ...hello, proof }).then(onHelloAnswer, (error: unknown) => {
        // After the server refuses hello, the server closes the socket, but the error answer to hello already has the
        // full message.
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
    this.#silentBeats = 0;
    this.#lastUnsentBytes = 0;
    this.#options.receiveName(server);
    this.#beatTimer = setInterval(() => this.#checkBeat(), MaxSilenceMs / MaxSilentBeats);
    this.#setState({ kind: 'open', serverVersion: server.serverVersion });
    this.opened.emit();
  }

  #checkBeat(): void {
    const unsentBytes = this.#socket?.unsentBytes ?? 0;
    // The answer to a ping queues behind a large result. Progress in sending a large result also proves that the link
    // is alive.
    this.#silentBeats = unsentBytes < this.#lastUnsentBytes ? 0 : this.#silentBeats + 1;
    this.#lastUnsentBytes = unsentBytes;
    if (this.#silentBeats >= MaxSilentBeats) {
      const deadSocket = this.#socket;
      this.#dropSocket();
      deadSocket?.close();
      this.#goDown('lost', `the server did not answer for ${MaxSilenceMs / 1000} s`, 0);
    } else if (this.#silentBeats === BeatsBeforePing) {
      this.request('ping', {}).catch(() => undefined);
    }
  }

  #receive(text: string): void {
    this.#silentBeats = 0;
    this.#receivedMs = performance.now();
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

  /** dropSocket drops the socket and ends its pending requests. */
  #dropSocket(): void {
    const wasOpen = this.#state.kind === 'open';
    this.#socket = undefined;
    clearInterval(this.#beatTimer);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const endRequest of pending) endRequest(undefined);
    if (wasOpen) {
      this.#setState({ kind: 'connecting' });
      this.lost.emit();
    }
  }

  /**
   * explainClose finds out why a socket closed. Browsers expose neither the status nor the text of a refused handshake.
   * The panel shows no text of an unauthenticated peer.
   */
  async #explainClose(code: number, reason: string, stage: Stage, connection: Connection): Promise<void> {
    if (stage === 'opened' && code === CloseUnpaired && connection.keyId !== undefined)
      return this.#goDown('unpaired', '', PairingRetryMs);
    if (stage === 'opened' || stage === 'challenged') return this.#goDown('refused', portInUse(connection), RetryMs);
    if (stage === 'proven') {
      if (code === CloseVersion) return this.#goDown('version', reason, SlowRetryMs);
      if (code === CloseReplaced) return this.#goDown('replaced', reason, SlowRetryMs);
      return this.#goDown('lost', reason, RetryMs);
    }
    this.#hasFailedToOpen = true;
    this.#isTrying = true;
    const listener = await this.#options.findListener(connection);
    this.#isTrying = false;
    if (!this.#socket) this.#reportUnreachable(listener, connection);
  }

  /** reportUnreachable reports why no socket could be opened. */
  #reportUnreachable(listener: Listener, connection: Connection): void {
    if (listener === 'nothing') this.#goDown('no_server', '', RetryMs);
    else this.#goDown('refused', portInUse(connection), RetryMs);
  }

  #goDown(reason: DownReason, text: string, waitMs: number): void {
    const { state } = this;
    if (state.kind !== 'down' || state.why !== reason || state.text !== text)
      this.#setState({ kind: 'down', why: reason, text });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#tryOnce(), waitMs + this.#options.random() * RetryJitterMs);
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.changed.emit();
  }
}

/**
 * Stage is the stage of the handshake on a socket. Frames of the server are handled only in the stage 'proven', after
 * the server has proved its identity.
 */
type Stage = 'opening' | 'opened' | 'challenged' | 'proven';

/** portInUse returns the error text for a peer that is not the server of this installation. */
function portInUse({ port }: Connection): string {
  return `Port ${port} is in use by another program or another opentabs installation. No data was sent to it.`;
}

/**
 * proveIdentity returns this browser's proof if the first frame is the server's challenge, and otherwise undefined.
 * proveIdentity never rejects.
 */
async function proveIdentity(handshake: Handshake, text: string): Promise<string | undefined> {
  const frame = parseFrame(text);
  if (frame.kind !== 'notification' || frame.method !== 'challenge') return undefined;
  return handshake.proveTo(frame.params).catch(() => undefined);
}

/**
 * prepareTry returns the server's address and the identity of this browser. prepareTry rejects if Chrome does not
 * return the address and the identity within PrepareTimeoutMs.
 */
async function prepareTry(options: LinkOptions): Promise<[Connection, Identity]> {
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
 * readAnswer returns the result in an answer, or an error. frame is the server's answer; undefined if the link was
 * lost.
 */
function readAnswer<M extends RequestMethod>(method: M, frame: Frame | undefined): Requests[M]['result'] | Error {
  if (frame?.kind === 'error') return new RefusedError(frame.error.code, frame.error.message);
  if (frame?.kind !== 'result') return new Error('the link to the server was lost');
  const result = checkResult(method, frame.result);
  return result.ok ? result.value : new Error(`the server's answer to ${method} can't be read: ${result.problem}`);
}

/** RefusedError is the server's error answer to a request. */
class RefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** versionMismatch returns an error text with the side that the user has to update. */
function versionMismatch(server: HelloResult): string {
  const versions = `this extension speaks protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${versions}: update the extension with "opentabs extension install" and reload it`
    : `${versions}: update the opentabs program`;
}

/** isSlow reports whether a failure cannot be fixed by retrying soon. */
function isSlow(reason: DownReason): boolean {
  return reason === 'version' || reason === 'replaced';
}
